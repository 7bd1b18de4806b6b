import { resolve } from 'node:path';
import { commandUser, commandUserProblem } from '#shared/agents/index.ts';
import type { Config } from '#shared/config/index.ts';
import type { Check } from './check.ts';

const NAME = 'Commands';

/** Checks what programs of `command` agents can read of the fleet. No check without such an agent. */
export function checkCommands(config: Config, ownUid = process.getuid?.(), platform: NodeJS.Platform = process.platform): Check[] {
  const { agents } = config.settings;
  if (!Object.values(agents).some(({ kind }) => kind === 'command')) return [];
  return [checkUser(config, ownUid), ...checkRedisPassword(config), ...checkPlatform(platform)].map(({ state, detail }) => ({
    name: NAME,
    state,
    detail,
  }));
}

function checkUser({ env, settings }: Config, uid: number | undefined): Omit<Check, 'name'> {
  const user = commandUser(settings.commands, uid);
  const problem = commandUserProblem(user, uid);
  if (problem !== null) return { state: 'fail', detail: problem };
  if (user !== null) return { state: 'ok', detail: `run as user ${user.uid}, which may not read what is the fleet's` };
  const detail =
    `run as the fleet's own user (${uid ?? 'unknown'}): they can read ${resolve(env.MUSTER_DATA_DIR)} with its admin key and Redis, ` +
    'and the memory of its processes where the system allows it. A worker that runs as root starts them as another user (MUSTER_COMMAND_UID)';
  return { state: 'warn', detail };
}

function checkRedisPassword({ readVariable }: Config): Omit<Check, 'name'>[] {
  const given = readVariable('REDIS_URL');
  if (given === undefined || given.startsWith('unix:') || /^[\w+]+:\/\/[^/@]*:[^/@]+@/.test(given)) return [];
  return [{ state: 'warn', detail: 'REDIS_URL has no password: programs that reach that Redis can read and write everything in it' }];
}

function checkPlatform(platform: NodeJS.Platform): Omit<Check, 'name'>[] {
  if (platform === 'linux') return [];
  return [
    { state: 'warn', detail: `on ${platform} a program that leaves its process group is not ended with its attempt; on Linux it is` },
  ];
}
