import { expect, it } from 'vitest';
import { daemonState } from '../../../support/daemons/daemon-state.ts';
import { HubDaemon } from '../../../../services/hub/runs/hub-daemon.ts';

/** A connection that counts how often a state is made with it. */
class CountingConnection {
  isReady = true;
  changes = 0;
  made = 0;

  stateWith(running: object): object {
    this.made += 1;
    return daemonState({ ...running, load: this.changes });
  }
}

it('the state of a daemon is made again only when something in it has changed', async () => {
  const connection = new CountingConnection();
  const daemon = new HubDaemon({
    tenant: 'default',
    id: 'd1',
    executor: { isDraining: () => true } as never,
    settings: { graceMs: 1000, resendMs: 1000 } as never,
    onAdopted: () => undefined,
    onChange: () => undefined,
    onTaken: () => undefined,
  });
  daemon.connect(connection as never);
  expect([daemon.state.load, daemon.state.load, connection.made]).toEqual([0, 0, 1]);
  connection.changes = 1;
  expect([daemon.state.load, daemon.state.load, connection.made]).toEqual([1, 1, 2]);
  // A hub that drains returns the ticket, and its slot is free again.
  const running = daemon.run({ tenant: 'default', task: 't1' }, {});
  expect([daemon.state.running, daemon.state.running, connection.made]).toEqual([1, 1, 3]);
  expect(await running).toEqual({ kind: 'returned' });
  expect([daemon.state.running, connection.made]).toEqual([0, 4]);
  const other = new CountingConnection();
  daemon.connect(other as never);
  expect([daemon.state.running, other.made]).toEqual([0, 1]);
});
