import { afterEach, describe, expect, it } from 'vitest';
import type { FakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { answer, event, openStream, startFakeApi } from '../fake-api.ts';
import { runMuster, startMuster } from '../run-muster.ts';

let server: FakeHttpEndpoint | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const STREAM = 'GET /v1/notifications/stream';
const environment = (): Record<string, string> => ({ MUSTER_URL: server?.url ?? '', MUSTER_API_KEY: 'k' });

describe('muster watch', () => {
  it('prints a line for each notification, and continues a cut stream where it ended', { timeout: 60_000 }, async () => {
    const at = '2026-05-01T09:00:00.000Z';
    const places: unknown[] = [];
    const addresses: unknown[] = [];
    server = await startFakeApi({
      [STREAM]: (response, request) => {
        places.push(request.headers['last-event-id']);
        addresses.push(request.url);
        openStream(response);
        response.write(event('open', { ok: true }, '1-0'));
        if (places.length === 1) {
          const run = { kind: 'run.completed', at, agent: 'scout', taskId: 'T1', resultSummary: 'All\nis \u001B[31mwell' };
          response.write(event('notification', run, '2-0'));
          // This id is after a notification that the key may not read.
          response.write(event('notification', { kind: 'backpressure.warning', at, queueDepth: 7 }, '3-0.1'), () => response.destroy());
          return;
        }
        response.write(event('gap', { from: '3-0.1', oldest: '9-0' }));
        response.write(event('notification', { kind: 'fleet.worker.lost', at, worker: 'w-1', reason: null }, '9-0'));
        response.write(event('notification', { kind: 'question.answered', at, question: 'Ship?', answeredBy: 'Anna' }, '9-0.1'));
        response.write(event('notification', { kind: 'question.digest', at, open: 2 }, '9-0.2'));
        response.write(
          event('notification', { kind: 'finding.opened', at, finding: { id: 'input.held', text: '3 tasks are held.' } }, '9-1'),
        );
      },
    });
    const { child, ended } = startMuster(['watch', '--kinds', 'run.*,*'], { env: environment() });
    let shown = '';
    child.stdout?.on('data', (piece: Buffer) => {
      shown += piece.toString();
    });
    await waitFor(() => shown.includes('finding.opened'), { deadlineMs: 50_000, what: 'the last line' });
    child.kill('SIGINT');
    const { stdout, stderr } = await ended;
    expect(stdout.replaceAll(/^\d\d:\d\d:\d\d \S+/gm, 'TIME').split('\n')).toEqual([
      'TIME  run.completed           scout  T1  All is well',
      'TIME  backpressure.warning    7 tasks have not ended',
      'TIME  fleet.worker.lost       w-1',
      'TIME  question.answered       answered by Anna: Ship?',
      'TIME  question.digest         2 questions are open',
      'TIME  finding.opened          3 tasks are held.',
      '',
    ]);
    expect(stderr).toContain('Some notifications are missing');
    expect(places).toEqual([undefined, '3-0.1']);
    expect(addresses[0]).toBe('/v1/notifications/stream?kinds=run.*%2C*');
  });

  it('shows why the server refuses', async () => {
    server = await startFakeApi({
      [STREAM]: (response) => answer(response, 422, { code: 'request.invalid', detail: 'kinds: expected others' }),
    });
    const { code, stderr } = await runMuster(['watch', '--kinds', 'x'], { env: environment() });
    expect(code).not.toBe(0);
    expect(stderr).toContain('kinds: expected others');
  });
});
