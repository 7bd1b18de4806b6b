import ipaddr from 'ipaddr.js';
import { readNetwork, type Network } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';

/** Whether an address, IPv4 or IPv6 and without brackets, may be connected to. */
export type AddressGuard = (address: string) => boolean;

/**
 * A guard that lets through what is public, and the networks of `allowNetworks` (CIDR, or one address).
 * Throws `config.invalid` for a network that cannot be read.
 */
export function createAddressGuard(allowNetworks: readonly string[]): AddressGuard {
  const allowed = allowNetworks.map(toNetwork);
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // `process` unwraps IPv4 in IPv6, which would otherwise be a way round every rule for IPv4.
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
