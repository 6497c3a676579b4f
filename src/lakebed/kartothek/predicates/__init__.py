"""Predicates in disjunctive form: parsed, evaluated on rows, and compared with statistics."""
