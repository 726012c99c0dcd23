/* The search lists the functions of a complete job before other functions. */
const COMPLETE_JOB = ("check_data bnc predict explain counterfactual cv cv_predict summary confusion " +
  "compare plot_importance plot_effect plot_explanation plot_calibration effects monotonize " +
  "from_effects scorecard with_prior save load write_page to_sql drift").split(" ");

/* The numbers are those of Sphinx. */
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    COMPLETE_JOB.includes(page.split(".").pop()) ? score + 10 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
