import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { freePort } from '../../support/free-port.ts';
import { startRedisProcess } from '../../support/redis/redis-process.ts';
import type { RedisServer } from '../../support/redis/redis-server.ts';
import { useFolder } from '../../support/use-folder.ts';
import { endWithParent } from '../../support/runner/end-with-parent.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor, type WaitForOptions } from '../../support/wait-for.ts';

const folder = await useFolder('muster-redis-tls-');
const file = (name: string): string => join(folder, name);
const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });

const NAMES = 'subjectAltName=IP:127.0.0.1,DNS:redis.internal';

/** A key, with a certificate for the loopback address and a name. */
function certify(name: string, authority?: string): void {
  const request = ['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', `${name}.key`];
  if (authority === undefined) return void openssl(...request, '-x509', '-days', '2', '-out', `${name}.crt`);
  openssl(...request, '-out', `${name}.csr`);
  const signed = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial', '-extfile', 'names', '-days', '2'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.crt`);
}

await writeFile(file('names'), NAMES);
for (const name of ['ca', 'stranger']) certify(name);
for (const name of ['server', 'client']) certify(name, 'ca');

const servers: RedisServer[] = [];
const sentinels: ChildProcess[] = [];
const clients: RedisClient[] = [];
afterAll(async () => {
  for (const client of clients) client.disconnect();
  for (const sentinel of sentinels) sentinel.kill('SIGKILL');
  for (const server of servers) await server.stop();
});

const until = (what: string): WaitForOptions => ({ deadlineMs: 20_000, what });
const TLS = ['--tls-cert-file', file('server.crt'), '--tls-key-file', file('server.key'), '--tls-ca-cert-file', file('ca.crt')];

/** A Redis whose second port takes only clients with a certificate. */
async function startTls(...args: string[]): Promise<number> {
  const port = await freePort();
  servers.push(await startRedisProcess({ args: ['--tls-port', String(port), '--tls-auth-clients', 'yes', ...TLS, ...args] }));
  return port;
}

const log = createLog({ level: 'silent', service: 'test' });
function open(url: string): RedisClient {
  const client = connectRedis({ url, name: 'tls', log });
  clients.push(client);
  return client;
}
/** What a command ends with that no server takes: the client tries again for as long as the command may take. */
const REFUSED = /timed out|closed/;
const QUERY = `cacert=${file('ca.crt')}&cert=${file('client.crt')}&key=${file('client.key')}`;

it('a Redis behind TLS takes the certificate of the client, and the client only the authority that it was given', async () => {
  const port = await startTls('--requirepass', 'secret');
  const trusted = open(`rediss://:secret@127.0.0.1:${port}?${QUERY}`);
  await waitFor(async () => (await trusted.ping()) === 'PONG', until('an answer over TLS'));
  await expect(open(`rediss://:secret@127.0.0.1:${port}?cacert=${file('ca.crt')}`).ping()).rejects.toThrow(REFUSED);
  await expect(open(`rediss://:secret@127.0.0.1:${port}?${QUERY.replace('ca.crt', 'stranger.crt')}`).ping()).rejects.toThrow(REFUSED);
  await expect(open(`rediss://:secret@127.0.0.1:${port}?${QUERY}&sni=elsewhere.internal`).ping()).rejects.toThrow(REFUSED);
  expect(await open(`rediss://:secret@127.0.0.1:${port}?${QUERY}&sni=redis.internal`).ping()).toBe('PONG');
});

it('a certificate that was renewed holds from the next connection on, also when its key is written later', async () => {
  const port = await startTls();
  for (const kind of ['crt', 'key']) await copyFile(file(`stranger.${kind}`), file(`mine.${kind}`));
  const client = open(`rediss://127.0.0.1:${port}?cacert=${file('ca.crt')}&cert=${file('mine.crt')}&key=${file('mine.key')}`);
  await expect(client.ping()).rejects.toThrow(REFUSED);
  await copyFile(file('client.crt'), file('mine.crt'));
  await expect(client.ping()).rejects.toThrow(REFUSED);
  await copyFile(file('client.key'), file('mine.key'));
  await waitFor(async () => (await client.ping().catch(() => '')) === 'PONG', until('an answer to the new certificate'));
});

it('Sentinels behind TLS with a password of their own lead to the primary, which takes nothing in clear', async () => {
  const primary = await startTls('--requirepass', 'secret', '--tls-replication', 'yes');
  const port = await freePort();
  const lines = [
    `port 0`,
    `tls-port ${port}`,
    'tls-auth-clients yes',
    'tls-replication yes',
    ...['cert', 'key', 'ca-cert'].map((name, at) => `tls-${name}-file ${TLS[at * 2 + 1]}`),
    'requirepass of-sentinel',
    `sentinel monitor mymain 127.0.0.1 ${primary} 1`,
    'sentinel auth-pass mymain secret',
  ];
  await writeFile(file('sentinel.conf'), lines.join('\n'));
  const sentinel = spawn(testEnvironment.redisServer, [file('sentinel.conf'), '--sentinel'], { stdio: 'ignore' });
  sentinels.push(sentinel);
  endWithParent(sentinel);
  const url = `rediss+sentinel://:secret@127.0.0.1:${port}/mymain?${QUERY}&sentinelPassword=of-sentinel`;
  const client = open(url);
  await waitFor(async () => (await client.ping().catch(() => '')) === 'PONG', until('an answer through the Sentinel'));
  await expect(open(url.replace('of-sentinel', 'wrong')).ping()).rejects.toThrow(REFUSED);
});
