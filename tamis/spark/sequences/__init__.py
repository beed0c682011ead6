"""Sequences (`FIRST … THEN …`) over tables and streams."""
