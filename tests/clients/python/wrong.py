"""Every line with the word wrong is one that the type checker must refuse."""

from bot_detection import AsyncClient, Client, Export
from bot_detection.events import BotDetected, Event
from bot_detection.types import Session

client = Client(api_key="k", base_url="https://api.example.com")
Client("k", base_url="https://api.example.com")  # wrong: the key is a keyword
Client(api_key="k")  # wrong: no address
client.sessions.list(riskLevel="bot")  # wrong: the name of the API
client.sessions.list(risk_level="robot")  # wrong: no such class
client.sessions.list(page_size="10")  # wrong: a text
client.sessions.get()  # wrong: no id
client.sessions.label("s", verdict="maybe")  # wrong: no such verdict
client.sessions.label("s", confidence="high")  # wrong: no verdict
client.webhooks.create(event_type="BotDetected")  # wrong: no address
client.webhooks.create(url="u", event_type="Bot")  # wrong: no such event
client.webhooks.create(url="u", event_type="BotDetected", threshold={"field": "f"})  # wrong: half a threshold
client.sessions.get("s")["botscore"]  # wrong: no such field
client.sessions.get("s")["botScore"] + 1  # wrong: may be null
rows: Export[Session] = client.exports.sessions(format="csv")  # wrong: bytes
for _ in AsyncClient(api_key="k", base_url="u").sessions.list():  # wrong: not asynchronous
    pass


def handle(event: Event) -> None:
    event.payload["sessionId"]  # wrong: not every event has one
    if isinstance(event, BotDetected):
        event.payload["anomalyId"]  # wrong: of another event
