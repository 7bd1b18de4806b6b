import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_NAMES, exists, read, SERVICES, sourceOf } from './repository.ts';

const dockerfile = read('services/Dockerfile');
const instructions = (name: string): string[] => [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, rest = '']) => rest);

describe('the image', () => {
  it('starts a service that is there', () => {
    const [command] = instructions('CMD');
    const [program, file = ''] = JSON.parse(command ?? '[]') as string[];
    expect(program).toBe('node');
    expect(exists(sourceOf(file))).toBe(true);
    expect(SERVICES).toContain(file.split('/')[1]);
  });

  it('runs as a user that is not root, given as a number', () => {
    expect(instructions('USER')).toEqual([expect.stringMatching(/^[1-9]\d*(:[1-9]\d*)?$/)]);
  });

  it('sets only names that the configuration knows, and listens where a container can be reached', () => {
    const given = Object.fromEntries(
      instructions('ENV').flatMap((line) => line.split(' ').map((pair) => pair.split('=') as [string, string])),
    );
    expect(Object.keys(given).filter((name) => !ENVIRONMENT_NAMES.has(name))).toEqual([]);
    expect(given).toMatchObject({ HOST: '0.0.0.0', NODE_ENV: 'production', PORT: instructions('EXPOSE')[0] });
  });

  it('copies only what is there and what .dockerignore lets through', () => {
    const ignore = read('.dockerignore').split('\n');
    const copied = instructions('COPY')
      .filter((line) => !line.startsWith('--from'))
      .flatMap((line) => line.split(' ').slice(0, -1));
    expect(copied.length).toBeGreaterThan(3);
    expect(ignore.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
    const isLet = (path: string): boolean => ignore.some((line) => line === `!${path}` || path.startsWith(`${line.replace('!', '')}/`));
    expect(copied.filter((path) => !exists(path) || !isLet(path))).toEqual([]);
  });
});
