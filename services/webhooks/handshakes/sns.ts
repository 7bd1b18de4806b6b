import type { GuardedFetch } from '#shared/agents/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { readField } from '../providers/read-webhook.ts';

/** The hosts of SNS, in every region and partition. */
const SNS_HOST = /^sns\.[a-z]{2}(?:-[a-z]+)+-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;

/**
 * The address by which SNS is told that its subscription is wanted. Anybody may post one to the hook, so it is read only where it is SNS's
 * own, for this step, and of the topic that the message is about. Errors: `hook.handshake-refused`.
 */
export function readHandshakeUrl(payload: unknown): URL {
  const [given, topic] = [readField(payload, 'SubscribeURL'), readField(payload, 'TopicArn')];
  const url = typeof given === 'string' && given.length <= MAX_CHARACTERS ? URL.parse(given) : null;
  if (url === null || !isOfSns(url) || typeof topic !== 'string' || url.searchParams.get('TopicArn') !== topic)
    throw new MusterError(
      'hook.handshake-refused',
      'Expected a SubscribeURL of SNS (https://sns.<region>.amazonaws.com/) for its TopicArn',
    );
  return url;
}

const MAX_CHARACTERS = 2048;

function isOfSns({ protocol, hostname, port, username, password, pathname, searchParams }: URL): boolean {
  const isPlain = port === '' && username === '' && password === '' && pathname === '/';
  return protocol === 'https:' && SNS_HOST.test(hostname) && isPlain && searchParams.get('Action') === 'ConfirmSubscription';
}

const CONFIRM_MS = 5000;

/** Reads an address once, within a bound, and follows nothing. What it returns throws `hook.handshake-refused` without a success. */
export function confirmBy(fetch: GuardedFetch): (url: URL) => Promise<void> {
  return async (url) => {
    const init = { redirect: 'manual', signal: AbortSignal.timeout(CONFIRM_MS) } as const;
    const response = await fetch(url, init).catch(() => null);
    await response?.body?.cancel().catch(() => undefined);
    if (response?.ok !== true) throw new MusterError('hook.handshake-refused', 'The address that confirms did not answer with success');
  };
}
