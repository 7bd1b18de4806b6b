import type { SlackAdapterConfig } from '@chat-adapter/slack';
import type { Logger } from 'chat';

type WebLog = NonNullable<NonNullable<SlackAdapterConfig['webClientOptions']>['logger']>;

/** The lines of Slack's own client, which would go to the console. What it warns of comes back as an error of the call besides. */
export function slackWebLog(logger: Logger): WebLog {
  const debug = (...parts: unknown[]): void => logger.debug(parts.map(String).join(' '));
  return {
    debug: ignore,
    info: debug,
    warn: debug,
    error: debug,
    setName: ignore,
    setLevel: ignore,
    getLevel: () => {
      throw new Error('The level is that of the process');
    },
  };
}

function ignore(): void {
  // Said by the caller already, or to nobody.
}
