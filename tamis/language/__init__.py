"""The selector language: text to tree (`parse`), tree to text (`to_text`), and its meaning."""

from tamis.language.evaluate import evaluate
from tamis.language.parser import parse
from tamis.language.printer import to_text
from tamis.language.rewrite import rewrite

__all__ = ["evaluate", "parse", "rewrite", "to_text"]
