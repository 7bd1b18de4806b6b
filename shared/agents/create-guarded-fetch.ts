import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, fetch, type RequestInit, type Response } from 'undici';
import { TaskFailure } from '../errors/index.ts';
import { createAddressGuard, type AddressGuard } from './create-address-guard.ts';
import { limitResponse, type ResponseLimits } from './limit-response.ts';

/** Limits count after decompression. */
export interface GuardedFetchOptions extends ResponseLimits {
  /** Networks that may be reached although they are not public, as CIDR. */
  readonly allowNetworks: readonly string[];
}

/** `fetch` that follows no redirect and connects to allowed addresses only. */
export type GuardedFetch = (url: string | URL, init: RequestInit) => Promise<Response>;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes a `fetch` for addresses that a user may have chosen. The check is made on the address that is connected to, at
 * the moment of connecting, so that neither a literal address nor a name that changes its mind gets round it.
 * A refused address rejects with a cause of PERMISSION_DENIED (see `failureFromNetwork`), one with a password in it with
 * INVALID_INPUT.
 *
 * It holds connections only between requests that follow each other within seconds, and these never keep a process alive;
 * so there is nothing to close.
 */
export function createGuardedFetch({ allowNetworks, ...limits }: GuardedFetchOptions): GuardedFetch {
  const isAllowed = createAddressGuard(allowNetworks);
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(isAllowed) });
  const dispatcher = new Agent({
    // How long an answer may take is for the task's timeout to say, which comes as a signal.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      // A literal address is never looked up, so the guarded lookup would not see it.
      if (isIP(host) !== 0 && !isAllowed(host)) callback(refusal(host), null);
      else connect(options, callback);
    },
  });
  return async (url, init) => {
    refuseCredentials(new URL(url));
    return limitResponse(await fetch(url, { ...init, redirect: 'manual', dispatcher }), limits);
  };
}

/** `fetch` refuses these too, but quotes the whole address, password included, in its error. */
function refuseCredentials({ username, password }: URL): void {
  if (username !== '' || password !== '')
    throw new TaskFailure('INVALID_INPUT', 'The address carries a user name or password; send them as a header');
}

function createGuardedLookup(isAllowed: AddressGuard): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (error) callback(error, []);
      else if (first === undefined) callback(refusal(hostname), []);
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** Names the host as it was given, not the address found: that would tell a stranger about the inside of the network. */
function refusal(host: string): TaskFailure {
  return new TaskFailure(
    'PERMISSION_DENIED',
    `${host} is not a public address; the operator can allow its network in outbound.allowNetworks`,
  );
}
