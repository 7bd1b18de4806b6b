import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { DeletionCost, deletionCost } from '../../../../services/worker/scale-in/deletion-cost.ts';
import { openPod } from '../../../../services/worker/scale-in/kubernetes-pod.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';

const EVERY_MS = 20;
const account = await useFolder();
const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
const files = ['-keyout', join(account, 'key'), '-out', join(account, 'ca.crt')];
execFileSync(
  'openssl',
  ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', ...files, ...subject],
  {
    stdio: 'ignore',
  },
);
writeFileSync(join(account, 'token'), 'first-token\n');

interface Patch {
  method: string;
  path: string;
  token: string;
  type: string;
  body: string;
}

const patches: Patch[] = [];
let answer = { status: 200, body: '{}' };

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function answerPatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await read(request);
  const { authorization: token = '', 'content-type': type = '' } = request.headers;
  patches.push({ method: request.method ?? '', path: request.url ?? '', token, type, body });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
}

/** As the API server of Kubernetes answers a patch. */
const server: Server = createServer(
  { key: readFileSync(join(account, 'key')), cert: readFileSync(join(account, 'ca.crt')) },
  (request, response) => void answerPatch(request, response),
);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const env = { POD_NAME: 'worker-1', POD_NAMESPACE: 'muster', KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: port };
const lines: { event?: string; reason?: string }[] = [];
const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(JSON.parse(line) as object) } });
let busy = { running: 0, longestMs: 0 };
let looks = 0;
let open: DeletionCost | undefined;

function look(): typeof busy {
  looks += 1;
  return busy;
}

function start(): void {
  const write = openPod(env, account);
  if (write === null) throw new Error('There is no pod');
  open = new DeletionCost({ write, busy: look, log, everyMs: EVERY_MS });
  open.start();
}
const looksMore = async (count: number): Promise<unknown> => {
  const from = looks;
  return await waitFor(() => looks >= from + count, { deadlineMs: 10_000, what: `${count} more looks` });
};
const patched = async (count: number): Promise<unknown> =>
  await waitFor(() => patches.length >= count, { deadlineMs: 10_000, what: `${count} patches` });

afterEach(async () => {
  await open?.stop();
  patches.length = 0;
  lines.length = 0;
  answer = { status: 200, body: '{}' };
  busy = { running: 0, longestMs: 0 };
});

const bodyOf = (cost: string): object => ({ metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } } });

describe('the deletion cost of a pod', () => {
  it('is nothing where nothing runs, more with each attempt, and more the longer one has run', () => {
    expect(deletionCost({ running: 0, longestMs: 0 })).toBe(0);
    expect(deletionCost({ running: 1, longestMs: 59_999 })).toBe(1000);
    expect(deletionCost({ running: 1, longestMs: 1e12 })).toBe(1999);
    expect(deletionCost({ running: 2, longestMs: 120_000 })).toBe(2002);
    expect(deletionCost({ running: 1e9, longestMs: 0 })).toBe(2_147_483_647);
  });

  it('is written when the number of attempts changes, and not for their age, with the token of now', async () => {
    start();
    await patched(1);
    expect(patches[0]).toMatchObject({
      method: 'PATCH',
      path: '/api/v1/namespaces/muster/pods/worker-1',
      token: 'Bearer first-token',
      type: 'application/merge-patch+json',
    });
    expect(JSON.parse(patches[0]?.body ?? '')).toEqual(bodyOf('0'));
    writeFileSync(join(account, 'token'), 'second-token');
    busy = { running: 2, longestMs: 0 };
    await patched(2);
    expect([patches[1]?.token, JSON.parse(patches[1]?.body ?? '')]).toEqual(['Bearer second-token', bodyOf('2000')]);
    busy = { running: 2, longestMs: 3_600_000 };
    await looksMore(3);
    expect(patches).toHaveLength(2);
  });

  it('is written no more once that was refused, which the log says once', async () => {
    answer = { status: 403, body: JSON.stringify({ message: 'pods "worker-1" is forbidden' }) };
    start();
    await waitFor(() => lines.length > 0, { deadlineMs: 10_000, what: 'the line of the log' });
    busy = { running: 1, longestMs: 0 };
    await new Promise((resolve) => setTimeout(resolve, 5 * EVERY_MS));
    expect(patches).toHaveLength(1);
    expect(lines).toMatchObject([{ event: 'scale-in.refused', status: 403, reason: 'pods "worker-1" is forbidden' }]);
  });

  it('is written again where the API was too busy', async () => {
    answer = { status: 503, body: '' };
    start();
    await patched(2);
    answer = { status: 200, body: '{}' };
    await patched(patches.length + 1);
    await looksMore(3);
    expect(lines).toEqual([]);
  });

  it('is written by nobody outside of a pod', () => {
    expect(openPod({ ...env, KUBERNETES_SERVICE_HOST: undefined })).toBeNull();
    expect(openPod({ ...env, POD_NAME: undefined })).toBeNull();
  });
});
