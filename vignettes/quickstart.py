"""Learn classifiers on the car data, print their accuracies, and draw one."""

from bnclassify import (
    AIC,
    BIC,
    accuracy,
    aode,
    load_car,
    loglik,
    lp,
    nb,
    plot,
    predict,
    tan_cl,
)

car = load_car()
models = {
    "nb": lp(nb("class", car), car, smooth=1),
    "tan_cl": lp(tan_cl("class", car, score="aic"), car, smooth=1),
    "aode": lp(aode("class", car), car, smooth=1),
}
for name, model in models.items():
    print(f"{name}\n{model}\n")
    print(f"  accuracy:       {accuracy(predict(model, car), car['class']):.4f}")
    print(f"  log-likelihood: {loglik(model, car):.1f}")
    if name != "aode":
        print(f"  AIC:            {AIC(model, car):.1f}")
        print(f"  BIC:            {BIC(model, car):.1f}")
    print()

try:
    print(
        "picture:", plot(models["tan_cl"]).render(outfile="car.svg", cleanup=True)
    )
except RuntimeError as no_program:
    print("no picture:", no_program)
