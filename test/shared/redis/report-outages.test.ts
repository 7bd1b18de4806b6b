import { expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { refusalOf } from '#shared/redis/refusals.ts';
import { knownRefusal, noteRefusal } from '#shared/redis/report-outages.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const server = await useRedis();

it('an outage of Redis is two lines of a process, however many connections it has', async () => {
  const lines: { level: string; event?: string }[] = [];
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  const roles = ['commands', 'subscriber', 'blocking', 'commands'] as const;
  const clients = roles.map((role, number) => connectRedis({ url: server.url, name: `test-${number}`, role, log }));
  try {
    for (let outage = 1; outage <= 2; outage += 1) {
      await Promise.all(clients.map((client) => client.ping()));
      await server.kill();
      await waitFor(() => lines.length === 2 * outage - 1, { deadlineMs: 10_000, what: 'the line of the outage' });
      await server.restart();
      await waitFor(() => clients.every(({ status }) => status === 'ready'), { deadlineMs: 10_000, what: 'all connections' });
      await waitFor(() => lines.length === 2 * outage, { deadlineMs: 10_000, what: 'the line of the return' });
    }
    expect(lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
      'warn redis.lost',
      'info redis.back',
      'warn redis.lost',
      'info redis.back',
    ]);
  } finally {
    for (const client of clients) client.disconnect();
  }
});

it('of two Redis that refuse, the one that changed last is named', () => {
  const log = createLog({ level: 'silent', service: 'test' });
  const urls = [1, 2].map((database) => `${server.url}/${database}`);
  const clients = urls.map((url) => connectRedis({ url, name: 'test', log }));
  const [first = '', second = ''] = urls;
  try {
    noteRefusal(first, refusalOf(new Error('BUSY a script runs')), log);
    noteRefusal(second, refusalOf(new Error('OOM command not allowed')), log);
    expect(knownRefusal()?.word).toBe('OOM');
    noteRefusal(first, refusalOf(new Error('NOREPLICAS not enough')), log);
    expect(knownRefusal()?.word).toBe('NOREPLICAS');
    noteRefusal(first, null, log);
    expect(knownRefusal()?.word).toBe('OOM');
  } finally {
    for (const client of clients) client.disconnect();
  }
});
