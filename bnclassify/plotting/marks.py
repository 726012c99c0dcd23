"""What both kinds of pictures share: colours, and how weights of evidence are written."""

from __future__ import annotations

from math import isinf

BLUE, ORANGE, GREY = "#1f4e79", "#b3470f", "#7f8b97"
"""Told apart by the colour-blind too: the class and what speaks for it, what speaks against it, the rest."""


PALE = "#dfe5eb"
"""The ground of bars, and what is given."""


def blend(colour: str, share: float) -> str:
    """Mix a colour with white.

    >>> blend("#000000", 0.0), blend("#000000", 1.0)
    ('#ffffff', '#000000')
    """
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + share * (channel - 255)):02x}" for channel in channels)


def ink(colour: str) -> str:
    """Return black or white, whichever is read better on a colour, by its relative luminance.

    >>> ink("#ffffff"), ink(BLUE)
    ('black', 'white')
    """
    red, green, blue = ((int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5))
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "white"


def signed(weight: float) -> str:
    """Write a weight with its sign, or without where it rounds to nothing.

    >>> signed(1.25), signed(-0.5), signed(0.001), signed(float("-inf"))
    ('+1.25', '−0.50', '0.00', '−∞')
    """
    text = f"{weight:+.2f}" if not isinf(weight) else f"{weight:+}".replace("inf", "∞")
    return text[1:] if text[1:] == "0.00" else text.replace("-", "\N{MINUS SIGN}")


def chance(probability: float) -> str:
    """Write a probability with two digits, so that what is likely is not certain, and what is rare possible.

    >>> chance(0.734), chance(0.99998), chance(0.001), chance(1.0)
    ('0.73', '>0.99', '<0.01', '1.00')
    """
    text = f"{probability:.2f}"
    if text == "1.00" and probability < 1:
        return ">0.99"
    return "<0.01" if text == "0.00" and probability > 0 else text
