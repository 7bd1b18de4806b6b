import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, fetch, type RequestInit, Response } from 'undici';
import { readNetwork, type Network } from '../config/index.ts';
import { MusterError, TaskFailure } from '../errors/index.ts';

/** Limits count after decompression. */
interface GuardedFetchOptions extends ResponseLimits {
  /** Networks that may be reached although they are not public, as CIDR. */
  readonly allowNetworks: readonly string[];
}

/** `fetch` that follows no redirect and connects to allowed addresses only. */
export type GuardedFetch = (url: string | URL, init: RequestInit) => Promise<Response>;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes a `fetch` for addresses that a user may have chosen. The check reads the connected address at the moment of connecting, so neither
 * a literal address nor a changing name bypasses it. A refused address rejects with a cause of PERMISSION_DENIED (see
 * `failureFromNetwork`), one with a password in it with INVALID_INPUT.
 *
 * It holds connections only between requests that follow each other within seconds, and these never keep a process alive;
 * so there is nothing to close.
 */
export function createGuardedFetch({ allowNetworks, ...limits }: GuardedFetchOptions): GuardedFetch {
  const isAllowed = createAddressGuard(allowNetworks);
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createGuardedLookup(isAllowed) });
  const dispatcher = new Agent({
    // The task's timeout, which comes as a signal, bounds how long an answer may take.
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

/** `fetch` refuses these too, but its error quotes the address, password included. */
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

/** Names the host as it was given, not the address found: the address would reveal the inside of the network. */
function refusal(host: string): TaskFailure {
  return new TaskFailure(
    'PERMISSION_DENIED',
    `${host} is not a public address; the operator can allow its network in outbound.allowNetworks`,
  );
}

/**
 * Why an address that is written out may not be called, before any call; null for one that may, and for a name, which is looked up when it is
 * called.
 */
export function refusalOfAddress(url: string, allowNetworks: readonly string[]): string | null {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) return 'expected an address (https:)';
  if (address.username !== '' || address.password !== '') return 'expected an address without a user name or password';
  const host = address.hostname.replace(/^\[(.*)\]$/, '$1');
  // RFC 6761: these names are always of this machine.
  const literal = /^(?:.*\.)?localhost\.?$/.test(host) ? '127.0.0.1' : host;
  return isIP(literal) === 0 || createAddressGuard(allowNetworks)(literal) ? null : refusal(host).message;
}

/** Whether an address, IPv4 or IPv6 and without brackets, may be connected to. */
type AddressGuard = (address: string) => boolean;

/**
 * A guard that allows public addresses, and the networks of `allowNetworks` (CIDR, or one address).
 * Throws `config.invalid` for a network that cannot be read.
 */
export function createAddressGuard(allowNetworks: readonly string[]): AddressGuard {
  const allowed = allowNetworks.map(toNetwork);
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // `process` unwraps IPv4 in IPv6, which would otherwise bypass every rule for IPv4.
    const ip = ipaddr.process(address);
    if (ip.range() === 'unicast' && isGiven(ip) && !METADATA.has(ip.toString())) return true;
    return allowed.some(([network, bits]) => ip.kind() === network.kind() && ip.match(network, bits));
  };
}

/**
 * Public in form, and answered within a cloud by the host of the machine: Azure's and Equinix's. What others have is link-local,
 * unique-local, carrier-grade or reserved.
 */
const METADATA: ReadonlySet<string> = new Set(['168.63.129.16', '192.80.8.124']);

/** Of IPv6 only 2000::/3 is given out to anybody. In the rest are old and local ways to write an IPv4 address, such as ::127.0.0.1. */
function isGiven(ip: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return ip.kind() === 'ipv4' || ip.match(ipaddr.parse('2000::'), 3);
}

function toNetwork(text: string): Network {
  const network = readNetwork(text);
  if (network !== null) return network;
  throw new MusterError('config.invalid', `allowNetworks: "${text}" is not a network such as 10.0.0.0/8 or an address`);
}

interface ResponseLimits {
  /** Bytes of a body. */
  readonly maxResponseBytes: number;
  /** Bytes between two blank lines, which readers of events keep until the second one comes. Defaults to no bound of its own. */
  readonly maxEventBytes?: number;
}

/** The same answer with a body that fails with OUTPUT_TOO_LARGE once more than that was read, which closes the connection. */
function limitResponse(response: Response, { maxResponseBytes, maxEventBytes }: ResponseLimits): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const measure = maxEventBytes === undefined ? undefined : createEventMeasure();
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxResponseBytes) controller.error(tooLarge(`more than ${maxResponseBytes} bytes`));
      else if (measure !== undefined && measure(chunk) > Number(maxEventBytes))
        controller.error(tooLarge(`an event of more than ${maxEventBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

function tooLarge(what: string): TaskFailure {
  return new TaskFailure('OUTPUT_TOO_LARGE', `The endpoint answered with ${what}`);
}

const LF = 10;
const CR = 13;

/** Takes a body chunk by chunk and returns the bytes of its last event so far. Lines end with LF, CR or both. */
function createEventMeasure(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let breaks = 0;
  let previous = 0;
  return (chunk) => {
    for (const byte of chunk) {
      bytes += 1;
      if (byte !== LF && byte !== CR) breaks = 0;
      else if (byte === CR || previous !== CR) breaks += 1;
      if (breaks > 1) bytes = 0;
      previous = byte;
    }
    return bytes;
  };
}
