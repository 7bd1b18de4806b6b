import { loadConfig, secretVariables, withdrawVariables, type Environment, type Settings } from '../config/index.ts';
import { createLog, gatherStdout, type Log, isTraced } from '../log/index.ts';
import { endOnSignals, exitOnStartFailure } from './end-process.ts';
import type { Parts } from './open-parts.ts';
import type { Service } from './service.ts';
import { startFleet } from './start-fleet.ts';
import { watchInstallation } from './watch-installation.ts';
import { hasCode } from '../errors/index.ts';
import { assertInstallation, assertServer, type Keys, type RedisClient } from '../redis/index.ts';
import { ensureFirstKey, type RecordChanges } from '../tenants/index.ts';
import { wait } from '../time/index.ts';

/** What a stop may take beyond the grace: closing connections. */
const STOP_MARGIN_MS = 5000;
/** Only this service needs MUSTER_ADMIN_KEY; another one would make a key of its own without it. */
const FIRST_KEY_SERVICE = 'api';
const WORKER = 'worker';

/**
 * Runs one service as a process of its own until a signal ends it or its work is done.
 * Exits with 0 after a drain, 1 when it cannot go on, 130 after a second signal, 78 when the operator has to repair something, else 1.
 */
export async function runService(name: string, create: (parts: Parts) => Service): Promise<void> {
  let log: Log | undefined;
  try {
    const config = await loadConfig();
    withdrawVariables(secretVariables(config.settings.agents));
    const { LOG_LEVEL: level, SHUTDOWN_GRACE_MS: graceMs } = config.env;
    // A worker's lines are out before an agent's code can hold it up or end it.
    const gathered = name === WORKER ? {} : { destination: gatherStdout() };
    const serviceLog = createLog({ level, service: name, hasSpans: isTraced(config.env), ...gathered });
    log = serviceLog;
    for (const warning of config.warnings) log.warn({ event: 'config.old-name' }, warning);
    for (const mistyped of config.mistyped) log.warn({ event: 'config.mistyped' }, mistyped);
    const failure = Promise.withResolvers<Error>();
    const completion = Promise.withResolvers<void>();
    const starting = startFleet({
      name,
      config,
      log: serviceLog,
      create: (parts) => [createInstallationService(parts, { makesFirstKey: name === FIRST_KEY_SERVICE }), create(parts)],
      fail: failure.resolve,
      finish: completion.resolve,
    });
    // Before the start has ended: a signal in the middle of it waits for it, so that all that was opened is closed.
    endOnSignals({
      log: serviceLog,
      stop: async () => (await starting).stop(graceMs),
      deadlineMs: graceMs + STOP_MARGIN_MS,
      failure: failure.promise,
      completion: completion.promise,
    });
    const { port } = await starting;
    log.info({ event: 'service.ready', port }, `The service ${name} is ready on port ${port}`);
  } catch (error) {
    exitOnStartFailure(error, log);
  }
}

const TRY_AGAIN_MS = 1000;

interface InstallationPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly env: Pick<Environment, 'MUSTER_ADMIN_KEY'> };
  readonly settings: Pick<Settings, 'redis'>;
  readonly log: Log;
  readonly changes: Pick<RecordChanges, 'installation'>;
}

interface InstallationOptions {
  /** Whether this service makes the first admin key where there is none. */
  readonly makesFirstKey: boolean;
}

/**
 * Checks, as soon as Redis answers, that work is safe there and that its data has this installation's form; with `makesFirstKey` also makes the first admin key.
 * For services that start in processes of their own, before or after Redis. A generated key is logged once: it cannot be read again.
 * Its `start` throws `config.invalid` where that is not so; found later, that ends the process.
 */
function createInstallationService(ports: InstallationPorts, options: InstallationOptions): Service {
  const stopping = new AbortController();
  let registering = Promise.resolve();
  return {
    name: 'installation',
    start: async () => {
      const isDone = await isRegistered(ports, options);
      registering = watch(ports, options, { isDone, signal: stopping.signal }).catch((error: unknown) =>
        exitOnStartFailure(error, ports.log),
      );
    },
    stop: async () => {
      stopping.abort();
      await registering;
    },
  };
}

async function watch(
  ports: InstallationPorts,
  options: InstallationOptions,
  { isDone, signal }: { isDone: boolean; signal: AbortSignal },
): Promise<void> {
  for (let isRegisteredNow = isDone; !isRegisteredNow && !signal.aborted;) {
    await wait(TRY_AGAIN_MS, signal);
    if (!signal.aborted) isRegisteredNow = await isRegistered(ports, options);
  }
  await watchInstallation(ports, signal);
}

/** Returns whether Redis answered. Throws `config.invalid`. */
async function isRegistered(ports: InstallationPorts, { makesFirstKey }: InstallationOptions): Promise<boolean> {
  try {
    await assertServer(ports);
    await assertInstallation(ports);
    const secret = makesFirstKey ? await ensureFirstKey(ports) : null;
    if (secret !== null) ports.log.warn({ event: 'key.created' }, `This is the admin key; it is shown once: ${secret}`);
    return true;
  } catch (error) {
    if (hasCode(error, 'config.invalid')) throw error;
    ports.log.debug({ err: error }, 'the installation waits for Redis');
    return false;
  }
}
