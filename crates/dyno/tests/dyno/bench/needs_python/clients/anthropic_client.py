"""Anthropic's client: messages, streamed and whole, conversations, errors, and counting."""
import sys

import anthropic

client = anthropic.Anthropic(base_url=sys.argv[1], api_key="none", max_retries=0)
model = sys.argv[2]
ask = [{"role": "user", "content": "one two three"}]

with client.messages.stream(model=model, max_tokens=9, system="be brief", messages=ask) as stream:
    text = "".join(stream.text_stream)
    message = stream.get_final_message()
assert text == message.content[0].text, (text, message)
assert 1 <= message.usage.output_tokens <= 9, message.usage
assert len(text.split()) == message.usage.output_tokens, (text, message.usage)
assert message.stop_reason in ("end_turn", "max_tokens"), message
assert message.usage.input_tokens == 5, message.usage

raw = client.messages.create(model=model, max_tokens=3, messages=ask, stream=True)
kinds = [event.type for event in raw]
assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"], kinds

whole = client.messages.create(model=model, max_tokens=2, messages=ask)
assert len(whole.content[0].text.split()) == whole.usage.output_tokens <= 2, whole
talk = ask + [{"role": "assistant", "content": whole.content[0].text},
              {"role": "user", "content": [{"type": "text", "text": "four"}]}]
counted = client.messages.count_tokens(model=model, system="be brief", messages=talk)
assert counted.input_tokens == 2 + 3 + whole.usage.output_tokens + 1, counted
more = client.messages.create(model=model, max_tokens=2, system="be brief", messages=talk)
assert more.usage.input_tokens == counted.input_tokens, (more.usage, counted)

try:
    client.messages.create(model="no-such-model", max_tokens=2, messages=ask)
    raise SystemExit("a model that does not exist was taken")
except anthropic.NotFoundError as error:
    assert error.body["error"]["type"] == "not_found_error", error.body
try:
    long = [{"role": "user", "content": "w " * 20000}]
    client.messages.create(model=model, max_tokens=5, messages=long)
    raise SystemExit("a prompt over the context length was taken")
except anthropic.BadRequestError as error:
    assert error.body["error"]["type"] == "invalid_request_error", error.body
print("all done", file=sys.stderr)
