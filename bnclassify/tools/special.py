"""The functions of scipy.special, which is slow to import, and is so at the first use of one."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the functions that the package uses, with their types
    from scipy.special import betaincinv as betaincinv
    from scipy.special import betaln as betaln
    from scipy.special import chdtrc as chdtrc
    from scipy.special import chdtri as chdtri
    from scipy.special import digamma as digamma
    from scipy.special import expit as expit
    from scipy.special import fdtrc as fdtrc
    from scipy.special import fdtri as fdtri
    from scipy.special import gammaln as gammaln
    from scipy.special import logit as logit
    from scipy.special import ndtr as ndtr
    from scipy.special import ndtri as ndtri
    from scipy.special import stdtr as stdtr
    from scipy.special import stdtrit as stdtrit
    from scipy.special import xlogy as xlogy
else:

    def __getattr__(name: str) -> Any:
        from scipy import special

        return getattr(special, name)
