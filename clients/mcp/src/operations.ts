// Written by `npm run clients` from docs/openapi.json. Do not edit.
export const OPERATIONS = {
  "getHealth": {
    "name": "get_health",
    "title": "Whether the service answers",
    "description": "",
    "method": "GET",
    "path": "/health",
    "scope": null,
    "input": {
      "type": "object",
      "properties": {},
      "additionalProperties": false
    }
  },
  "listSessions": {
    "name": "list_sessions",
    "title": "List sessions",
    "description": "Browsing sessions, newest first. Filters combine with and.",
    "method": "GET",
    "path": "/v1/sessions",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        },
        "startDate": {
          "description": "Sessions that began at or after it: ISO 8601 date (UTC), or date-time with offset.",
          "type": "string",
          "examples": [
            "2026-01-01"
          ]
        },
        "endDate": {
          "description": "Sessions that began before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.",
          "type": "string",
          "examples": [
            "2026-01-31T09:30:00Z"
          ]
        },
        "status": {
          "description": "Sessions in this status, in any case.",
          "type": "string",
          "enum": [
            "Active",
            "Closed",
            "Scored",
            "Failed"
          ]
        },
        "minBotScore": {
          "description": "Smallest bot score, 0 to 1.",
          "type": "number",
          "minimum": 0,
          "maximum": 1
        },
        "maxBotScore": {
          "description": "Largest bot score, 0 to 1.",
          "type": "number",
          "minimum": 0,
          "maximum": 1
        },
        "riskLevel": {
          "description": "The class under the current risk thresholds and the label.",
          "type": "string",
          "enum": [
            "bot",
            "medium",
            "human"
          ]
        },
        "detectionFlag": {
          "description": "A flag that the session carries.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "label": {
          "description": "The reviewer’s verdict; `none` for sessions without one.",
          "type": "string",
          "enum": [
            "bot",
            "human",
            "none"
          ]
        },
        "userId": {
          "description": "Sessions of this LMS user.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "courseId": {
          "description": "Sessions in this course.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "fingerprint": {
          "description": "Sessions of this device.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "origin": {
          "description": "Sessions whose first page is at this scheme://host[:port].",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "deviceType": {
          "description": "Sessions on this kind of device.",
          "type": "string",
          "enum": [
            "desktop",
            "mobile",
            "tablet"
          ]
        }
      },
      "additionalProperties": false
    }
  },
  "getSession": {
    "name": "get_session",
    "title": "Get a session",
    "description": "One browsing session, with its score, its label and the user it is correlated with.",
    "method": "GET",
    "path": "/v1/sessions/{sessionId}",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "sessionId": {
          "description": "The session’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "ses_5Hk2mQ"
          ]
        }
      },
      "required": [
        "sessionId"
      ],
      "additionalProperties": false
    }
  },
  "getSessionDetails": {
    "name": "get_session_details",
    "title": "Get the details of a session",
    "description": "Its duration, the counts of its events, a timeline, the pages it went through and what the rules found.",
    "method": "GET",
    "path": "/v1/sessions/{sessionId}/details",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "sessionId": {
          "description": "The session’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "ses_5Hk2mQ"
          ]
        }
      },
      "required": [
        "sessionId"
      ],
      "additionalProperties": false
    }
  },
  "getSessionEvidence": {
    "name": "get_session_evidence",
    "title": "Get the evidence of a session",
    "description": "Why the session has its score: what each rule found, what it measured, when, and how much it counts.",
    "method": "GET",
    "path": "/v1/sessions/{sessionId}/evidence",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "sessionId": {
          "description": "The session’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "ses_5Hk2mQ"
          ]
        }
      },
      "required": [
        "sessionId"
      ],
      "additionalProperties": false
    }
  },
  "listSessionEvents": {
    "name": "list_session_events",
    "title": "List the events of a session",
    "description": "Metadata of the events by their sequence; never what was typed.",
    "method": "GET",
    "path": "/v1/sessions/{sessionId}/events",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "sessionId": {
          "description": "The session’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "ses_5Hk2mQ"
          ]
        },
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "required": [
        "sessionId"
      ],
      "additionalProperties": false
    }
  },
  "labelSession": {
    "name": "label_session",
    "title": "Label a session as bot or human",
    "description": "The verdict overrides the score in every count. A new label replaces the old one.",
    "method": "POST",
    "path": "/v1/sessions/{sessionId}/label",
    "scope": "sessions:write",
    "input": {
      "type": "object",
      "properties": {
        "sessionId": {
          "description": "The session’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "ses_5Hk2mQ"
          ]
        },
        "verdict": {
          "type": "string",
          "enum": [
            "bot",
            "human"
          ],
          "description": "What the session was, in any case."
        },
        "confidence": {
          "type": [
            "string",
            "null"
          ],
          "enum": [
            "high",
            "medium",
            "low",
            null
          ],
          "description": "How sure the reviewer is."
        },
        "notes": {
          "type": [
            "string",
            "null"
          ],
          "maxLength": 1000,
          "description": "Free text, at most 1000 characters.",
          "examples": [
            "Pasted 400 words within a second"
          ]
        }
      },
      "required": [
        "sessionId",
        "verdict"
      ],
      "additionalProperties": false
    }
  },
  "listUsers": {
    "name": "list_users",
    "title": "List users",
    "description": "The LMS users that sessions are correlated with, by id.",
    "method": "GET",
    "path": "/v1/users",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "additionalProperties": false
    }
  },
  "listUserSessions": {
    "name": "list_user_sessions",
    "title": "List the sessions of a user",
    "description": "The sessions that are correlated with the user, newest first.",
    "method": "GET",
    "path": "/v1/users/{userId}/sessions",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "userId": {
          "description": "The LMS user’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "lms-4711"
          ]
        },
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "required": [
        "userId"
      ],
      "additionalProperties": false
    }
  },
  "confirmDevice": {
    "name": "confirm_device",
    "title": "Confirm a device as a user’s own",
    "description": "The pair’s next SharedDevice and DeviceSwitch anomalies are suppressed. A pair that is not known yet is registered; a repeat refreshes `confirmedAt`. The body may be left out.",
    "method": "POST",
    "path": "/v1/users/{userId}/devices/{fingerprint}/confirm",
    "scope": "sessions:write",
    "input": {
      "type": "object",
      "properties": {
        "userId": {
          "description": "The LMS user’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "lms-4711"
          ]
        },
        "fingerprint": {
          "description": "The device’s fingerprint.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "4be81f0c9a7d2210"
          ]
        },
        "notes": {
          "type": [
            "string",
            "null"
          ],
          "maxLength": 1000,
          "description": "Free text, at most 1000 characters.",
          "examples": [
            "Pasted 400 words within a second"
          ]
        }
      },
      "required": [
        "userId",
        "fingerprint"
      ],
      "additionalProperties": false
    }
  },
  "getUserErasure": {
    "name": "get_user_erasure",
    "title": "Get the receipt of an erasure",
    "description": "It says how far the erasure is and what it changed, not of whom. Receipts are kept for 400 days.",
    "method": "GET",
    "path": "/v1/user-erasures/{receiptId}",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "receiptId": {
          "description": "The receipt’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "era_019d3c5f2e10a1b2c3d4e5f60718293a"
          ]
        }
      },
      "required": [
        "receiptId"
      ],
      "additionalProperties": false
    }
  },
  "listCourses": {
    "name": "list_courses",
    "title": "List courses",
    "description": "The courses that the addresses of sessions name, by id.",
    "method": "GET",
    "path": "/v1/courses",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "additionalProperties": false
    }
  },
  "getAnalytics": {
    "name": "get_analytics",
    "title": "Get analytics of a window that ends now",
    "description": "Counts of the sessions that began in the window: a time series, and sums by risk class, user, origin and device. Every number covers the same sessions, so the series adds up to the summary.",
    "method": "GET",
    "path": "/v1/analytics",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "period": {
          "description": "The window that ends now. `24h` cannot be grouped by week.",
          "default": "7d",
          "type": "string",
          "enum": [
            "24h",
            "7d",
            "30d",
            "90d"
          ]
        },
        "groupBy": {
          "description": "Size of a bucket of the time series, in UTC; weeks begin on Monday.",
          "default": "day",
          "type": "string",
          "enum": [
            "hour",
            "day",
            "week"
          ]
        }
      },
      "additionalProperties": false
    }
  },
  "getStats": {
    "name": "get_stats",
    "title": "Get counters of the integration",
    "description": "Counts over everything that the integration has, exact at the time of the request.",
    "method": "GET",
    "path": "/v1/stats",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {},
      "additionalProperties": false
    }
  },
  "getUsage": {
    "name": "get_usage",
    "title": "Get the API consumption of the integration",
    "description": "Requests of all its keys by whole UTC days, the last 30 by default and at most 366. Requests of the last seconds may still be missing.",
    "method": "GET",
    "path": "/v1/usage",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "startDate": {
          "description": "Requests at or after it: ISO 8601 date (UTC), or date-time with offset.",
          "type": "string",
          "examples": [
            "2026-01-01"
          ]
        },
        "endDate": {
          "description": "Requests before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.",
          "type": "string",
          "examples": [
            "2026-01-31T09:30:00Z"
          ]
        }
      },
      "additionalProperties": false
    }
  },
  "getRiskThresholds": {
    "name": "get_risk_thresholds",
    "title": "Get the risk thresholds",
    "description": "The scores, in hundredths, from which a session is `medium` and `bot`.",
    "method": "GET",
    "path": "/v1/settings/risk-thresholds",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {},
      "additionalProperties": false
    }
  },
  "updateRiskThresholds": {
    "name": "update_risk_thresholds",
    "title": "Replace the risk thresholds",
    "description": "Every session belongs to its new class at once. No webhook fires for it.",
    "method": "PUT",
    "path": "/v1/settings/risk-thresholds",
    "scope": "settings:write",
    "input": {
      "type": "object",
      "properties": {
        "mediumAt": {
          "type": "integer",
          "minimum": 0,
          "maximum": 100,
          "description": "Hundredths of the score from which a session is `medium`, 0 to 100.",
          "examples": [
            40
          ]
        },
        "botAt": {
          "type": "integer",
          "minimum": 0,
          "maximum": 100,
          "description": "Hundredths of the score from which it is a `bot`: at least 5 above mediumAt.",
          "examples": [
            70
          ]
        }
      },
      "required": [
        "mediumAt",
        "botAt"
      ],
      "additionalProperties": false
    }
  },
  "listWebhooks": {
    "name": "list_webhooks",
    "title": "List webhook subscriptions",
    "description": "All of the integration’s subscriptions, oldest first.",
    "method": "GET",
    "path": "/v1/webhooks",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {},
      "additionalProperties": false
    }
  },
  "createWebhook": {
    "name": "create_webhook",
    "title": "Create a webhook subscription",
    "description": "Each call creates a new subscription. Its signing secret is in this answer and never shown again.",
    "method": "POST",
    "path": "/v1/webhooks",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "url": {
          "type": "string",
          "examples": [
            "https://example.com/hooks/bots"
          ],
          "description": "http or https, port 80 or 443, at most 2048 characters, no private address.",
          "maxLength": 2048
        },
        "eventType": {
          "type": "string",
          "examples": [
            "BotDetected"
          ],
          "description": "One of the seven event types, in any case.",
          "enum": [
            "BotDetected",
            "SessionAnomaly",
            "SessionCorrelated",
            "WritingSessionScored",
            "ReportReady",
            "AlertTriggered",
            "ThresholdExceeded"
          ]
        },
        "threshold": {
          "anyOf": [
            {
              "type": "object",
              "properties": {
                "field": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 256,
                  "description": "Dot-separated path into the payload, for example `metadata.otherUserCount`.",
                  "examples": [
                    "botScore"
                  ]
                },
                "operator": {
                  "type": "string",
                  "enum": [
                    "gte",
                    "gt",
                    "lte",
                    "lt",
                    "eq",
                    "neq",
                    "in"
                  ]
                },
                "value": {
                  "anyOf": [
                    {
                      "type": "string",
                      "maxLength": 256
                    },
                    {
                      "type": "number"
                    },
                    {
                      "type": "boolean"
                    },
                    {
                      "minItems": 1,
                      "maxItems": 100,
                      "type": "array",
                      "items": {}
                    }
                  ],
                  "description": "A number or numeric string for gte, gt, lte and lt; a scalar for eq and neq; an array of scalars for in.",
                  "examples": [
                    0.9
                  ]
                }
              },
              "required": [
                "field",
                "operator",
                "value"
              ]
            },
            {
              "type": "null"
            }
          ]
        },
        "name": {
          "type": [
            "string",
            "null"
          ],
          "minLength": 1,
          "maxLength": 100,
          "description": "Default: the event type.",
          "examples": [
            "Bots to the review queue"
          ]
        },
        "enabled": {
          "type": [
            "boolean",
            "null"
          ],
          "description": "Default: true.",
          "examples": [
            true
          ]
        }
      },
      "required": [
        "url",
        "eventType"
      ],
      "additionalProperties": false
    }
  },
  "getWebhook": {
    "name": "get_webhook",
    "title": "Get a webhook subscription",
    "description": "One subscription, without its secret.",
    "method": "GET",
    "path": "/v1/webhooks/{id}",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        }
      },
      "required": [
        "id"
      ],
      "additionalProperties": false
    }
  },
  "updateWebhook": {
    "name": "update_webhook",
    "title": "Update a webhook subscription",
    "description": "Applies the fields that are present. Enabling a disabled subscription needs a free slot of the plan, resets its failures and sends what waited.",
    "method": "PATCH",
    "path": "/v1/webhooks/{id}",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        },
        "url": {
          "type": "string",
          "examples": [
            "https://example.com/hooks/bots"
          ],
          "description": "http or https, port 80 or 443, at most 2048 characters, no private address.",
          "maxLength": 2048
        },
        "eventType": {
          "type": "string",
          "examples": [
            "BotDetected"
          ],
          "description": "One of the seven event types, in any case.",
          "enum": [
            "BotDetected",
            "SessionAnomaly",
            "SessionCorrelated",
            "WritingSessionScored",
            "ReportReady",
            "AlertTriggered",
            "ThresholdExceeded"
          ]
        },
        "threshold": {
          "description": "Null removes it.",
          "anyOf": [
            {
              "type": "object",
              "properties": {
                "field": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 256,
                  "description": "Dot-separated path into the payload, for example `metadata.otherUserCount`.",
                  "examples": [
                    "botScore"
                  ]
                },
                "operator": {
                  "type": "string",
                  "enum": [
                    "gte",
                    "gt",
                    "lte",
                    "lt",
                    "eq",
                    "neq",
                    "in"
                  ]
                },
                "value": {
                  "anyOf": [
                    {
                      "type": "string",
                      "maxLength": 256
                    },
                    {
                      "type": "number"
                    },
                    {
                      "type": "boolean"
                    },
                    {
                      "minItems": 1,
                      "maxItems": 100,
                      "type": "array",
                      "items": {}
                    }
                  ],
                  "description": "A number or numeric string for gte, gt, lte and lt; a scalar for eq and neq; an array of scalars for in.",
                  "examples": [
                    0.9
                  ]
                }
              },
              "required": [
                "field",
                "operator",
                "value"
              ]
            },
            {
              "type": "null"
            }
          ]
        },
        "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 100,
          "description": "Default: the event type.",
          "examples": [
            "Bots to the review queue"
          ]
        },
        "enabled": {
          "type": "boolean",
          "description": "Default: true.",
          "examples": [
            true
          ]
        }
      },
      "required": [
        "id"
      ],
      "additionalProperties": false
    }
  },
  "deleteWebhook": {
    "name": "delete_webhook",
    "title": "Delete a webhook subscription",
    "description": "Ends what was still to be sent to it and frees its slot at once. A repeat gives 404.",
    "method": "DELETE",
    "path": "/v1/webhooks/{id}",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        }
      },
      "required": [
        "id"
      ],
      "additionalProperties": false
    }
  },
  "rotateWebhookSecret": {
    "name": "rotate_webhook_secret",
    "title": "Rotate the signing secret",
    "description": "The old secret is invalid at once, also for attempts that are still to come, unless the body asks for a grace period. The new one is in this answer and never shown again. The body may be left out.",
    "method": "POST",
    "path": "/v1/webhooks/{id}/rotate-secret",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        },
        "gracePeriodSeconds": {
          "default": 0,
          "type": "integer",
          "examples": [
            3600
          ],
          "description": "For so long, deliveries also carry the signature of the old secret, in `X-Webhook-Signature-Previous`.",
          "minimum": 0,
          "maximum": 604800
        }
      },
      "required": [
        "id"
      ],
      "additionalProperties": false
    }
  },
  "testWebhook": {
    "name": "test_webhook",
    "title": "Send a test delivery",
    "description": "Sends one synthetic delivery with `X-Webhook-Test: true`, signed with the current secret, and answers its outcome after at most 30 seconds. It is not retried and counts for nothing.",
    "method": "POST",
    "path": "/v1/webhooks/{id}/test",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        }
      },
      "required": [
        "id"
      ],
      "additionalProperties": false
    }
  },
  "listWebhookEvents": {
    "name": "list_webhook_events",
    "title": "List webhook events",
    "description": "The record of all webhook events, also of those that no subscription was for: each with its payload and what became of it for each subscription. Oldest first, a client that keeps its cursor gets each event exactly once. A page examines at most 10,000 events, so with filters it may be short or empty while `hasMore` is true.",
    "method": "GET",
    "path": "/v1/webhook-events",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "eventType": {
          "description": "Events of this type, in any case.",
          "type": "string",
          "enum": [
            "BotDetected",
            "SessionAnomaly",
            "SessionCorrelated",
            "WritingSessionScored",
            "ReportReady",
            "AlertTriggered",
            "ThresholdExceeded"
          ]
        },
        "sessionId": {
          "description": "Events whose payload names this session.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "userId": {
          "description": "Events whose payload names this user.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "startDate": {
          "description": "Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset.",
          "type": "string",
          "examples": [
            "2026-01-01"
          ]
        },
        "endDate": {
          "description": "Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.",
          "type": "string",
          "examples": [
            "2026-01-31T09:30:00Z"
          ]
        },
        "sort": {
          "description": "The order: `newest` or `oldest` first. With `oldest` each event comes once and none is left out, and the last page has a `nextCursor` too, with which the walk goes on later.",
          "type": "string",
          "enum": [
            "newest",
            "oldest"
          ]
        },
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "additionalProperties": false
    }
  },
  "getWebhookEvent": {
    "name": "get_webhook_event",
    "title": "Get a webhook event",
    "description": "One event, with its payload and what became of it for each subscription.",
    "method": "GET",
    "path": "/v1/webhook-events/{eventId}",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "eventId": {
          "description": "The event’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "evt_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        }
      },
      "required": [
        "eventId"
      ],
      "additionalProperties": false
    }
  },
  "listWebhookDeliveries": {
    "name": "list_webhook_deliveries",
    "title": "List the deliveries of a subscription",
    "description": "The delivery log, with test deliveries: what is pending, and what ended within 30 days. Stays readable for a deleted subscription.",
    "method": "GET",
    "path": "/v1/webhooks/{id}/deliveries",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        },
        "status": {
          "description": "Deliveries in this status, in any case.",
          "type": "string",
          "enum": [
            "Pending",
            "Delivered",
            "Failed",
            "MaxRetriesExceeded",
            "PermanentFailure",
            "PoisonAborted"
          ]
        },
        "startDate": {
          "description": "Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset.",
          "type": "string",
          "examples": [
            "2026-01-01"
          ]
        },
        "endDate": {
          "description": "Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.",
          "type": "string",
          "examples": [
            "2026-01-31T09:30:00Z"
          ]
        },
        "sort": {
          "description": "The order by the time of the event: `newest` or `oldest` first.",
          "type": "string",
          "enum": [
            "newest",
            "oldest"
          ]
        },
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "required": [
        "id"
      ],
      "additionalProperties": false
    }
  },
  "getWebhookDelivery": {
    "name": "get_webhook_delivery",
    "title": "Get a delivery",
    "description": "One delivery, with its payload and all attempts.",
    "method": "GET",
    "path": "/v1/webhooks/{id}/deliveries/{deliveryId}",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        },
        "deliveryId": {
          "description": "The delivery’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        }
      },
      "required": [
        "id",
        "deliveryId"
      ],
      "additionalProperties": false
    }
  },
  "resendWebhookDelivery": {
    "name": "resend_webhook_delivery",
    "title": "Send a delivery again",
    "description": "Sends a finished delivery again, delivered or not, under the same id and with six new attempts. Refused while it is pending, for a test delivery, and if the subscription is disabled or deleted.",
    "method": "POST",
    "path": "/v1/webhooks/{id}/deliveries/{deliveryId}/resend",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        },
        "deliveryId": {
          "description": "The delivery’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "dlv_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        }
      },
      "required": [
        "id",
        "deliveryId"
      ],
      "additionalProperties": false
    }
  },
  "recoverWebhookDeliveries": {
    "name": "recover_webhook_deliveries",
    "title": "Recover missed deliveries",
    "description": "Sends all failed deliveries again whose event fired within [startDate, endDate), each under its own id; with `includeSkipped` also the events of the last 30 days that were skipped only because the subscription was disabled, each as a new delivery. Refused if the subscription is disabled or deleted.",
    "method": "POST",
    "path": "/v1/webhooks/{id}/recover",
    "scope": "webhooks:write",
    "input": {
      "type": "object",
      "properties": {
        "id": {
          "description": "The subscription’s id.",
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "examples": [
            "whk_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f"
          ]
        },
        "startDate": {
          "type": "string",
          "examples": [
            "2026-01-01"
          ],
          "description": "Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset."
        },
        "endDate": {
          "type": "string",
          "examples": [
            "2026-01-31T09:30:00Z"
          ],
          "description": "Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day."
        },
        "includeSkipped": {
          "default": false,
          "type": "boolean",
          "description": "Also send the events that were skipped only because the subscription was disabled, at most 1,000.",
          "examples": [
            true
          ]
        }
      },
      "required": [
        "id",
        "startDate"
      ],
      "additionalProperties": false
    }
  },
  "getIntegration": {
    "name": "get_integration",
    "title": "Get the integration that the key resolves to",
    "description": "",
    "method": "GET",
    "path": "/v1/integration",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {},
      "additionalProperties": false
    }
  },
  "listAuditEntries": {
    "name": "list_audit_entries",
    "title": "List the audit log",
    "description": "Who changed the integration, newest first: its keys, plan, thresholds, sites, webhooks, labels, devices, rules and reports. Of changes by keys the newest 10,000 of each action are kept, others stay.",
    "method": "GET",
    "path": "/v1/audit-log",
    "scope": "read",
    "input": {
      "type": "object",
      "properties": {
        "cursor": {
          "description": "Opaque token from `page.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.",
          "type": "string",
          "minLength": 1,
          "maxLength": 2048
        },
        "pageSize": {
          "description": "Items a page, 1 to 100; clamped to the cap of the tier.",
          "default": 50,
          "type": "integer",
          "minimum": 1,
          "maximum": 100
        }
      },
      "additionalProperties": false
    }
  }
} as const;
