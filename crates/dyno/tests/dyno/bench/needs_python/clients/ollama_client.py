"""Ollama's client: chat and generate, streamed and whole, its list of models, and errors."""
import sys

import ollama

client = ollama.Client(host=sys.argv[1])
model = client.list().models[0].model
ask = [{"role": "user", "content": "one two three"}]
four = {"num_predict": 4}

parts = list(client.chat(model=model, messages=ask, options=four, stream=True))
text = "".join(part.message.content for part in parts)
last = parts[-1]
assert last.done and last.done_reason in ("stop", "length"), last
assert not any(part.done for part in parts[:-1])
assert last.prompt_eval_count == 3 and last.eval_count == len(text.split()) <= 4, last
assert last.total_duration >= last.eval_duration > 0, last

whole = client.chat(model=model, messages=ask, options=four)
assert len(whole.message.content.split()) == whole.eval_count <= 4, whole
talk = ask + [{"role": "assistant", "content": whole.message.content},
              {"role": "user", "content": "four"}]
again = client.chat(model=model, messages=talk, options=four)
assert again.prompt_eval_count == 4 + whole.eval_count, again

parts = list(client.generate(model=model, prompt="one two", system="be brief", options=four, stream=True))
assert parts[-1].done and parts[-1].prompt_eval_count == 4, parts[-1]
assert len("".join(part.response for part in parts).split()) == parts[-1].eval_count <= 4
assert client.generate(model=model, prompt="one", options=four).done

try:
    client.chat(model="no-such-model", messages=ask)
    raise SystemExit("a model that does not exist was taken")
except ollama.ResponseError as error:
    assert error.status_code == 404 and "no-such-model" in error.error, error
print("all done", file=sys.stderr)
