import { expect, it } from 'vitest';
import { createDaemon, readDaemonStates, writeDaemonStates } from '#shared/daemons/index.ts';
import { createLog } from '#shared/log/index.ts';
import { watchDaemons } from '../../../../services/api/fleet/daemon-watch.ts';
import { daemonState } from '../../../support/daemons/daemon-state.ts';
import { readNotifications } from '../support/read-notifications.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ events: { pollMs: 100 } });
const { parts } = api;

const STATE = daemonState();

it('a daemon that was lost with its hub is offline, and its tenant notified once', async () => {
  const make = async (name: string): Promise<string> => {
    const registration = { name, user: null, capabilities: null, slots: null, agents: null, enabled: true };
    const { daemon } = await createDaemon(parts, { ...registration, tenant: 'default' }, 10);
    return daemon.id;
  };
  const [lost, held] = [await make('laptop'), await make('desk')];
  await writeDaemonStates(parts, [{ tenant: 'default', id: held, state: { ...STATE, name: 'desk' }, isFirst: true }]);
  const state = { ...STATE, running: 1, tasks: ['01TASK'] };
  await parts.redis.hset(parts.keys.fleet.daemonStates, `default/${lost}`, `1 hub-1:1 ${JSON.stringify(state)}`);
  const lines: object[] = [];
  const log = createLog({ level: 'warn', service: 'test', destination: { write: (line) => void lines.push(JSON.parse(line) as object) } });
  const reader = await readNotifications(api);
  const ports = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings, log };
  await Promise.all([watchDaemons(ports), watchDaemons(ports)]);
  await watchDaemons(ports);
  expect(await reader.waitFor({ kind: 'daemon.disconnected' })).toMatchObject({ daemon: lost, name: 'laptop', user: null });
  expect((await readDaemonStates(parts)).map(({ id }) => id)).toEqual([held]);
  expect(reader.kinds()).toEqual(['daemon.disconnected']);
  expect(lines).toMatchObject([{ level: 'warn', event: 'daemon.disconnected', daemon: lost, affectedTasks: ['01TASK'] }]);
});
