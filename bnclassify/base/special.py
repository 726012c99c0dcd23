"""The functions of scipy.special, which is slow to import, and is so at the first use of one."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.special import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        from scipy import special

        return getattr(special, name)
