import { describe, expect, it } from 'vitest';
import { createAddressGuard } from '#shared/agents/guarded-fetch.ts';

describe('the address guard', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('lets the public address %s through', (address) => {
    expect(createAddressGuard([])(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '192.80.8.124',
    '100.100.100.200',
    '192.0.0.192',
    'fd20:ce::254',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    '2001:db8::1',
    '::127.0.0.1',
    '::a00:1',
    '64:ff9b:1::a00:1',
    '5f00::1',
    'not an address',
    '',
  ])('refuses %s', (address) => {
    expect(createAddressGuard([])(address)).toBe(false);
  });

  it('lets through the networks it was given, and nothing beside them', () => {
    const isAllowed = createAddressGuard(['10.1.0.0/16', 'fd00::/8', '192.168.7.7']);
    expect(['10.1.255.255', '::ffff:10.1.0.1', 'fd12::1', '192.168.7.7'].map(isAllowed)).toEqual([true, true, true, true]);
    expect(['10.2.0.0', '192.168.7.8', '127.0.0.1', '::1', 'fe80::1'].map(isAllowed)).toEqual([false, false, false, false, false]);
  });

  it.each(['10.0.0.0/33', 'example.org', '10.1', ''])('refuses "%s", which is no network', (network) => {
    expect(() => createAddressGuard([network])).toThrow(expect.objectContaining({ code: 'config.invalid' }));
  });
});
