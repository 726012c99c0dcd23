"""Averaged one- and n-dependence estimators (AODE, ANDE), with stacked tables.

It imports `networks`, for rows left out of tables, EM and implied values.
"""
