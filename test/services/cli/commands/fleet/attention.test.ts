import { describe, expect, it } from 'vitest';
import { answer } from '../../fake-api.ts';
import { type Handlers, useMuster } from '../../use-muster.ts';

const { muster } = useMuster();

const critical = { code: 'queue.unserved', level: 'critical', text: 'Tasks wait in the queue "chat".', since: '2100-01-01T00:00:00.000Z' };
const warning = { code: 'schedule.paused', level: 'warning', text: 'The schedule "daily" is paused.', since: null };

const listing = (...items: object[]): Handlers => ({
  'GET /v1/attention': (response) => answer(response, 200, { items, nextCursor: null }),
});

describe('muster attention', () => {
  it('lists the worst first, and ends with 1 when something is critical', async () => {
    expect(await muster(listing(critical, warning), ['attention'])).toEqual({
      code: 1,
      stdout: 'critical  Tasks wait in the queue "chat". (for 0 ms)\nwarning   The schedule "daily" is paused.\n',
      stderr: '',
    });
  });

  it('ends with 0 after warnings alone, and without any', async () => {
    expect(await muster(listing(warning), ['attention'])).toMatchObject({ code: 0 });
    expect(await muster(listing(), ['attention'])).toMatchObject({ code: 0, stdout: 'Nothing needs attention.\n' });
  });

  it('prints the answer with --json, with the same exit code', async () => {
    const { code, stdout } = await muster(listing(critical), ['attention', '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([1, { items: [critical], nextCursor: null }]);
  });

  it('says what helps, and by which id it is acknowledged', async () => {
    const more = { ...critical, id: 'queue.unserved:chat', helps: 'Start a worker that serves it.' };
    const { stdout } = await muster(listing(more), ['attention']);
    expect(stdout.split('\n')[1]).toBe('          Start a worker that serves it. (queue.unserved:chat)');
    const acknowledge: Handlers = {
      'POST /v1/attention/queue.unserved%3Achat/acknowledge': (response) => answer(response, 200, more),
    };
    expect(await muster(acknowledge, ['attention', 'acknowledge', more.id])).toMatchObject({
      code: 0,
      stdout: 'Acknowledged: Tasks wait in the queue "chat".\n',
    });
  });
});
