import ipaddr from 'ipaddr.js';

const IPV6_NETWORK_BITS = 64;

/** What is counted as one address: whoever has one of IPv6 has the network around it. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed
    .toByteArray()
    .slice(0, IPV6_NETWORK_BITS / 8)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
