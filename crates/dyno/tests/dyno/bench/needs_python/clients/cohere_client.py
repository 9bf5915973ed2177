"""Cohere's client: reranking, over its second API."""
import sys

import cohere

client = cohere.ClientV2(base_url=sys.argv[1], api_key="none")
texts = ["a river", "a stone bridge", "tea"]
ranked = client.rerank(model=sys.argv[2], query="stone bridges", documents=texts, top_n=2)
assert len(ranked.results) == 2, ranked
scores = [result.relevance_score for result in ranked.results]
assert scores == sorted(scores, reverse=True), scores
assert {result.index for result in ranked.results} <= {0, 1, 2}, ranked

everything = client.rerank(model=sys.argv[2], query="stone bridges", documents=texts)
assert sorted(result.index for result in everything.results) == [0, 1, 2], everything
try:
    client.rerank(model="no-such-model", query="q", documents=texts)
    raise SystemExit("a model that does not exist was taken")
except cohere.NotFoundError as error:
    assert "no-such-model" in str(error.body), error
print("all done", file=sys.stderr)
