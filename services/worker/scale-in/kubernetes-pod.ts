import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Environment } from '#shared/config/index.ts';

/** `refused`: by the API, which says why; asking again is of no use. */
export type WriteAnswer = { kind: 'written' } | { kind: 'later' } | { kind: 'refused'; status: number; message: string };
export type WriteCost = (cost: number) => Promise<WriteAnswer>;

/** Where a pod finds the account that it runs as. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
const ANSWER_MS = 5000;
const MAX_ANSWER_BYTES = 10_000;

type PodEnvironment = Pick<Environment, 'POD_NAME' | 'POD_NAMESPACE' | 'KUBERNETES_SERVICE_HOST' | 'KUBERNETES_SERVICE_PORT'>;

/** What writes the deletion cost of this process's own pod; null outside of a pod that knows its name. `account`: the folder of its account. */
export function openPod(env: PodEnvironment, account = ACCOUNT): WriteCost | null {
  const { POD_NAME: pod, POD_NAMESPACE: namespace, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (pod === undefined || namespace === undefined || host === undefined) return null;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
  return async (cost) => {
    // A token is replaced while the pod runs.
    const [token, ca] = await Promise.all([readFile(join(account, 'token'), 'utf8'), readFile(join(account, 'ca.crt'))]);
    const body = JSON.stringify({ metadata: { annotations: { [ANNOTATION]: `${cost}` } } });
    const headers = { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/merge-patch+json', accept: 'application/json' };
    return readAnswer(await send({ host, port, path, ca, headers }, body));
  };
}

function readAnswer({ status, text }: { status: number; text: string }): WriteAnswer {
  if (status >= 200 && status < 300) return { kind: 'written' };
  if (status === 429 || status >= 500) return { kind: 'later' };
  return { kind: 'refused', status, message: messageOf(text) };
}

function messageOf(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    const message = typeof answer === 'object' && answer !== null && 'message' in answer ? answer.message : null;
    return typeof message === 'string' ? message.slice(0, 300) : '';
  } catch {
    return '';
  }
}

interface PatchOptions {
  host: string;
  port: number;
  path: string;
  ca: Buffer;
  headers: Record<string, string>;
}

/** Rejects where nobody answers in time, or not with the certificate of the cluster. */
function send(options: PatchOptions, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ ...options, method: 'PATCH', agent: false, signal: AbortSignal.timeout(ANSWER_MS) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        if (text.length < MAX_ANSWER_BYTES) text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
