import { Webhook } from 'standardwebhooks';
import { TaskFailure } from '../errors/index.ts';

export interface MessageToSign {
  /** Unique per attempt: a receiver that drops repeated ids must not drop a retry. */
  readonly id: string;
  readonly body: string;
  /** Now, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** The three headers of Standard Webhooks. Throws INVALID_INPUT when the secret is not base64. */
export function signHttpTask(secret: string, { id, body, nowMs }: MessageToSign): Record<string, string> {
  const at = new Date(nowMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': readSecret(secret).sign(id, at, body),
  };
}

function readSecret(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    // Without the cause, whose text might quote the secret.
    throw new TaskFailure('INVALID_INPUT', 'The agent\'s "secret" is not a Standard Webhooks secret (base64, with or without "whsec_")');
  }
}
