import { describe, expect, it } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { parseRedisAddress } from '#shared/redis/redis-address.ts';

const isAccepted = (url: string): boolean => environmentSchema.safeParse({ REDIS_URL: url }).success;

describe('the address of a single Redis', () => {
  it.each([
    ['redis://cache', { host: 'cache', port: 6379 }],
    ['redis://cache:7000', { host: 'cache', port: 7000 }],
    ['redis://cache:7000/3', { host: 'cache', port: 7000, db: 3 }],
    ['redis://cache/3', { host: 'cache', port: 6379, db: 3 }],
    ['redis://:secret@cache', { host: 'cache', port: 6379, password: 'secret' }],
    ['redis://muster:secret@cache', { host: 'cache', port: 6379, username: 'muster', password: 'secret' }],
    ['redis://muster@cache', { host: 'cache', port: 6379, username: 'muster' }],
    ['redis://muster:a%40b%2Fc%3Ad@cache', { host: 'cache', port: 6379, username: 'muster', password: 'a@b/c:d' }],
    ['redis://muster:with:colons@cache', { host: 'cache', port: 6379, username: 'muster', password: 'with:colons' }],
    ['rediss://cache', { host: 'cache', port: 6379, tls: {} }],
    ['redis://127.0.0.1:6380', { host: '127.0.0.1', port: 6380 }],
    ['redis://[::1]:6380/1', { host: '::1', port: 6380, db: 1 }],
    ['redis://[fd00::5]', { host: 'fd00::5', port: 6379 }],
  ])('is read from %s', (url, options) => {
    expect(isAccepted(url)).toBe(true);
    expect(parseRedisAddress(url)).toEqual({ kind: 'single', options });
  });

  it.each([
    ['unix:///run/redis.sock', { path: '/run/redis.sock' }],
    ['unix:///run/my%20redis.sock?db=2', { path: '/run/my redis.sock', db: 2 }],
  ])('may be a socket, %s', (url, options) => {
    expect(isAccepted(url)).toBe(true);
    expect(parseRedisAddress(url)).toEqual({ kind: 'single', options });
  });
});

describe('the address of Sentinels', () => {
  it('names them, the master and the database', () => {
    const url = 'redis+sentinel://muster:secret@a:26380,b,[::1]:5/mymain/2';
    expect(isAccepted(url)).toBe(true);
    expect(parseRedisAddress(url)).toEqual({
      kind: 'sentinel',
      options: {
        username: 'muster',
        password: 'secret',
        db: 2,
        name: 'mymain',
        sentinels: [
          { host: 'a', port: 26_380 },
          { host: 'b', port: 26_379 },
          { host: '::1', port: 5 },
        ],
      },
    });
  });

  it('may be reached over TLS, and the master’s name has the usual default', () => {
    expect(parseRedisAddress('rediss+sentinel://a')).toEqual({
      kind: 'sentinel',
      options: { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true, name: 'mymaster', sentinels: [{ host: 'a', port: 26_379 }] },
    });
  });

  it('may have a login for the Sentinels themselves', () => {
    const url = 'redis+sentinel://:secret@a/main?sentinelUser=watch&sentinelPassword=p%40ss';
    expect(isAccepted(url)).toBe(true);
    expect(parseRedisAddress(url)).toEqual({
      kind: 'sentinel',
      options: {
        password: 'secret',
        sentinelUsername: 'watch',
        sentinelPassword: 'p@ss',
        name: 'main',
        sentinels: [{ host: 'a', port: 26_379 }],
      },
    });
  });
});

describe('the address of a Cluster', () => {
  it('names some of its nodes', () => {
    const url = 'rediss+cluster://:secret@a:7000,b:7001,c';
    expect(isAccepted(url)).toBe(true);
    expect(parseRedisAddress(url)).toEqual({
      kind: 'cluster',
      options: { password: 'secret', tls: {} },
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
        { host: 'c', port: 6379 },
      ],
    });
  });
});

describe('what cannot be an address', () => {
  it.each([
    'http://cache',
    'cache:6379',
    'redis://',
    'redis://cache:port',
    // A slash has to be written %2F there. Guessing would connect to another Redis than meant.
    'redis://:pass/word@cache:6379',
    'redis://:100%@cache',
    'redis://cache/database',
    'redis+sentinel://a,/main/x',
    'redis://::1:6379',
    'unix://',
  ])('is refused with the configuration, and never read as another one: %s', (url) => {
    expect(isAccepted(url)).toBe(false);
    expect(() => parseRedisAddress(url)).toThrow(/expected/);
  });
});
