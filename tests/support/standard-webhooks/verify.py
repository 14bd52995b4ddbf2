"""Reads a JSON list of requests, each with a secret, and prints for each whether the library accepts it."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def is_genuine(secret, headers, body):
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


print(json.dumps([is_genuine(**request) for request in json.load(sys.stdin)]))
