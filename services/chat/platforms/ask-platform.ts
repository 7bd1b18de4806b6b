/** A platform that does not answer within this has refused nothing. */
const TIMEOUT_MS = 8000;

export interface PlatformReply {
  readonly status: number;
  /** Null when it is no JSON. */
  readonly body: unknown;
}

/** Asks a platform's API who the bot is. Null when no answer came, which says nothing of the bot. */
export async function askPlatform(url: string, authorization?: string): Promise<PlatformReply | null> {
  try {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, body: await response.json().catch(() => null) };
  } catch {
    return null;
  }
}
