/** What a server that cannot serve now says. */
export interface Refusal {
  /** The word that its reply begins with; for replies without one, a word of ours. */
  readonly word: string;
  /** What is wrong, and where to look. */
  readonly reason: string;
}

/** By the first word of the reply: the protocol has no other codes. */
const REASONS: Readonly<Record<string, string>> = {
  LOADING: 'it is still reading its data',
  MISCONF: 'it cannot write to its disk; check the free space and its log',
  NOREPLICAS: 'it has fewer replicas than min-replicas-to-write asks for',
  OOM: 'its memory is full (maxmemory)',
  READONLY: 'it is a replica; check that REDIS_URL leads to the primary',
  MASTERDOWN: 'it is a replica that has lost its primary',
  CLUSTERDOWN: 'its cluster does not serve all slots',
  TRYAGAIN: 'its cluster is moving these keys',
  MOVED: 'its cluster has given these keys to another node',
  ASK: 'its cluster is moving these keys',
  BUSY: 'a script of somebody else keeps it busy',
  UNBLOCKED: 'it has just become a replica',
  NOAUTH: 'it wants a password, and REDIS_URL has none',
  WRONGPASS: 'it does not take the user or password of REDIS_URL',
  NOPERM: 'its ACL does not allow the user of REDIS_URL what Muster needs',
  DENIED: 'its protected mode takes connections of its own machine only',
  MAXCLIENTS: 'it takes no more connections (maxclients)',
  QUOTA: 'its provider serves no more commands or connections until the quota renews',
};

/** A script's error on Redis 6 has its line in front: `ERR Error running script (...): @user_script:1: @user_script: 1: -OOM command ...`. */
const WORD = /^(?:ERR .*?@user_script: ?\d+: )?-?([A-Z]+) /;

/** Replies whose word says nothing (`ERR`), with the one that stands for them here. */
const BY_TEXT: readonly (readonly [text: RegExp, word: string])[] = [
  // From within a script the ACL answers without its word.
  [/The user executing the script can't |ACL failure in script/, 'NOPERM'],
  [/^ERR max number of clients\b/, 'MAXCLIENTS'],
  [/^ERR (?:max .*limit|max concurrent connections|DB capacity quota) exceeded/, 'QUOTA'],
  // Before Redis 6.
  [/^ERR invalid password/, 'WRONGPASS'],
];

/** The refusal that an error of the client carries; null when it carries none. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  // A transaction is discarded for what its commands were refused.
  if ('previousErrors' in error && Array.isArray(error.previousErrors)) return refusalOf(error.previousErrors[0]);
  const { message } = error;
  const word = BY_TEXT.find(([text]) => text.test(message))?.[1] ?? WORD.exec(message)?.[1] ?? '';
  return Object.hasOwn(REASONS, word) ? { word, reason: REASONS[word] ?? '' } : null;
}

/** In words, for people: `OOM: its memory is full (maxmemory)`. */
export function describeRefusal({ word, reason }: Refusal): string {
  return `${word}: ${reason}`;
}
