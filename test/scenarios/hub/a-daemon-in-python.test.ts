import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonProcess, startPythonDaemon } from '../../support/daemons/daemon-process.ts';
import { type HubGateway, startHubGateway } from '../../support/daemons/hub-gateway.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';

const finder = new URL('../../../services/local/set-up/provide-python.mjs', import.meta.url).href;
const { findPython } = (await import(finder)) as { findPython: () => Promise<string | null> };
const python = await findPython();
const folder = await useFolder();

let fleet: Fleet;
let gateway: HubGateway;
let hub: ServiceProcess;
let daemon: DaemonProcess;

async function startHub(): Promise<ServiceProcess> {
  const started = await fleet.start('hub');
  gateway.lead([started]);
  return started;
}

// In CI a missing Python is a failure: see the set-up for tests.
describe.skipIf(python === null && !testEnvironment.isCi)('a daemon in Python', () => {
  beforeAll(async () => {
    gateway = await startHubGateway();
    fleet = await openFleet({
      settings: {
        agents: {
          noter: { kind: 'daemon', capabilities: ['python'], takesInput: true },
          words: { kind: 'daemon', capabilities: ['python'] },
        },
        hub: { heartbeatMs: 500, graceMs: 60_000, resendMs: 200, sweepMs: 500 },
      },
    });
    await fleet.start('api');
    hub = await startHub();
    const { token } = await fleet.client.make('/v1/daemons', { name: 'snake', capabilities: ['python'] });
    daemon = startPythonDaemon(python ?? 'python3', { hub: gateway.url, token: String(token), folder });
    await daemon.prints('connected as dmn_');
  });
  afterAll(async () => {
    daemon?.signal('SIGKILL');
    await daemon?.ended;
    await fleet?.stop();
    await gateway?.close();
  });

  it('writes output, takes messages, and completes', async () => {
    const id = await fleet.client.submit({ agent: 'noter', input: 'two words', session: 'notes' });
    await fleet.client.reaches(id, ['running']);
    await daemon.prints(`started ${id}`);
    for (const text of ['buy milk', 'stop']) {
      expect((await fleet.client.call('POST', `/v1/tasks/${id}/input`, { body: { text } })).status).toBe(202);
    }
    const task = await fleet.client.reaches(id, ['completed']);
    expect(task).toMatchObject({ output: 'two words noted: buy milk; noted: stop; ', result: { notes: ['buy milk', 'stop'] }, attempt: 1 });
    await daemon.prints(`kept ${id}`);
  });

  it('waits for no messages outside of a session', async () => {
    const id = await fleet.client.submit({ agent: 'noter', input: 'two words' });
    expect(await fleet.client.reaches(id, ['completed'])).toMatchObject({ output: 'two words ', result: { notes: [] } });
  });

  it('stops what a person cancels', async () => {
    const id = await fleet.client.submit({ agent: 'words', input: 'a b c', context: { paceMs: 60_000 } });
    await daemon.prints(`started ${id}`);
    await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
    await daemon.prints(`ended ${id}`);
    expect(await fleet.client.reaches(id, ['cancelled'])).toMatchObject({ output: null, attempt: 1, outcome: { kind: 'cancelled' } });
  });

  it('brings the result that it finished while no hub was there, and the attempt counts', async () => {
    const id = await fleet.client.submit({ agent: 'words', input: 'one two three', context: { paceMs: 1000 } });
    await daemon.prints(`started ${id}`);
    gateway.lead([]);
    await hub.kill();
    await daemon.prints(`ended ${id}`);
    hub = await startHub();
    await daemon.prints(`kept ${id}`);
    expect(await fleet.client.task(id)).toMatchObject({ status: 'completed', output: 'one two three ', attempt: 1 });
    expect(await fleet.client.attempts(id)).toMatchObject([{ number: 1, status: 'success' }]);
  });

  it('drains on SIGTERM', async () => {
    daemon.signal('SIGTERM');
    expect(await daemon.ended).toBe(0);
  });
});
