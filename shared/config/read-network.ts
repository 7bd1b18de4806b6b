import ipaddr from 'ipaddr.js';

export type Network = [first: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A network as CIDR, or one address; null for what is neither. */
export function readNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  // The short forms of IPv4 ("10.1" is 10.0.0.1) are more often a typing error than meant.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.parse(text), 32];
  if (ipaddr.IPv6.isValid(text)) return [ipaddr.parse(text), 128];
  return null;
}
