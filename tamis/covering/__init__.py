"""Covering: does every event that satisfies one selector satisfy another?"""
