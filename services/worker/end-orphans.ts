import { endOrphanedCommands } from '#shared/agents/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';

/**
 * Makes what ends the processes that commands of killed workers may have left on this system; it waits while Redis is away, and never rejects. It
 * reads every process of the machine, which takes long on a busy one: calls during a look share the next one.
 */
export function orphanEnder(parts: Pick<Parts, 'config' | 'fleetId' | 'log'>, signal: AbortSignal): () => Promise<void> {
  let [current, next]: (Promise<void> | undefined)[] = [];
  const look = (): Promise<void> => {
    next = undefined;
    current = endOrphans(parts, signal).finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => (current === undefined ? look() : (next ??= current.then(look)));
}

async function endOrphans({ config, fleetId, log }: Pick<Parts, 'config' | 'fleetId' | 'log'>, signal: AbortSignal): Promise<void> {
  try {
    const ended = await endOrphanedCommands(await fleetId.read(signal), config.settings.commands);
    if (ended > 0)
      log.warn({ event: 'command.orphans-ended', processes: ended }, 'ended processes that commands of a killed worker had left');
  } catch (error) {
    log.debug({ err: error }, 'the processes of killed workers could not be ended; another worker on this machine retries');
  }
}
