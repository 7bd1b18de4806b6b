import ipaddr from 'ipaddr.js';
import { MusterError } from '../errors/muster-error.ts';

/** Whether an address, IPv4 or IPv6 and without brackets, may be connected to. */
export type AddressGuard = (address: string) => boolean;

/**
 * A guard that lets through what is public, and the networks of `allowNetworks` (CIDR, or one address).
 * Throws `config.invalid` for a network that cannot be read.
 */
export function createAddressGuard(allowNetworks: readonly string[]): AddressGuard {
  const allowed = allowNetworks.map(readNetwork);
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // `process` unwraps IPv4 in IPv6, which would otherwise be a way round every rule for IPv4.
    const ip = ipaddr.process(address);
    if (ip.range() === 'unicast') return true;
    return allowed.some(([network, bits]) => ip.kind() === network.kind() && ip.match(network, bits));
  };
}

function readNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  // The short forms of IPv4 ("10.1" is 10.0.0.1) are more often a typing error than meant.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.parse(text), 32];
  if (ipaddr.IPv6.isValid(text)) return [ipaddr.parse(text), 128];
  throw new MusterError('config.invalid', `allowNetworks: "${text}" is not a network such as 10.0.0.0/8 or an address`);
}
