"""OpenAI's client: chat, completions, Responses and embeddings."""
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
model = client.models.list().data[0].id
ask = [{"role": "user", "content": "one two three"}]
extra = {"ignore_eos": True}

stream = client.chat.completions.create(
    model=model, messages=ask, stream=True, max_tokens=9,
    stream_options={"include_usage": True}, extra_body=extra)
text, finish, usage, pieces = "", None, None, 0
for chunk in stream:
    for choice in chunk.choices:
        if choice.delta.content:
            text += choice.delta.content
            pieces += 1
        finish = choice.finish_reason or finish
    usage = chunk.usage or usage
assert pieces == 9 and len(text.split()) == 9, (pieces, text)
assert finish == "length", finish
assert (usage.prompt_tokens, usage.completion_tokens) == (3, 9), usage

whole = client.chat.completions.create(model=model, messages=ask, max_tokens=5, extra_body=extra)
assert len(whole.choices[0].message.content.split()) == 5, whole
assert whole.usage.total_tokens == 8, whole

old = client.completions.create(model=model, prompt="a b", max_tokens=4, stream=True, extra_body=extra)
assert sum(1 for chunk in old if chunk.choices and chunk.choices[0].text) == 4

try:
    client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "w " * 20000}], max_tokens=5)
    raise SystemExit("a prompt over the context length was taken")
except openai.BadRequestError as error:
    assert "maximum context length" in str(error), error

stream = client.responses.create(
    model=model, input="one two three", instructions="be brief", max_output_tokens=9,
    stream=True, store=False, extra_body=extra)
text, last, numbers = "", None, []
for event in stream:
    numbers.append(event.sequence_number)
    if event.type == "response.output_text.delta":
        text += event.delta
    last = event
assert numbers == list(range(len(numbers))), numbers
assert last.type in ("response.completed", "response.incomplete"), last.type
assert last.response.status == "incomplete", last.response.status
assert last.response.incomplete_details.reason == "max_output_tokens", last.response
assert last.response.output_text == text and len(text.split()) == 9, (text, last)
assert (last.response.usage.input_tokens, last.response.usage.output_tokens) == (5, 9), last

first = client.responses.create(
    model=model, input=[{"role": "user", "content": "one two"}], max_output_tokens=4, store=False,
    extra_body=extra)
assert len(first.output_text.split()) == 4, first
talk = [{"role": "user", "content": "one two"}, {"role": "assistant", "content": first.output_text},
        {"role": "user", "content": "three"}]
second = client.responses.create(
    model=model, input=talk, max_output_tokens=4, store=False, extra_body=extra)
assert second.usage.input_tokens == 7, second
try:
    client.responses.create(model="no-such-model", input="x", store=False)
    raise SystemExit("a model that does not exist was taken")
except openai.NotFoundError as error:
    assert "no-such-model" in str(error), error

found = client.embeddings.create(model=model, input=["one two", "three"])
assert [item.index for item in found.data] == [0, 1], found
assert found.usage.prompt_tokens == 3, found.usage
assert all(len(item.embedding) > 1 for item in found.data), found
assert found.data[0].embedding != found.data[1].embedding
plain = client.embeddings.create(model=model, input="one two", encoding_format="float")
near = zip(plain.data[0].embedding, found.data[0].embedding)
assert all(abs(a - b) < 1e-6 for a, b in near), "float and base64 differ"
print("all done", file=sys.stderr)
