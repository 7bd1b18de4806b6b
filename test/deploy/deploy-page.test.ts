import { spawnSync } from 'node:child_process';
import { describe, expect, it, vi } from 'vitest';
import { manifestsIn } from './manifests.ts';
import { helm, kubectl } from './rendered.ts';
import { exists, inRepository, read } from './repository.ts';

vi.setConfig({ testTimeout: 60_000 });

const page = read('docs/deploy.md');
const commands = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, text = '']) => text.trim().split('\n'));
const examples = new Map(
  manifestsIn('secret.example.yaml').map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData ?? {})]),
);

/** What a command would do to a cluster, without one. */
function withoutCluster(command: string): string {
  if (command.startsWith('helm install')) return command.replace('helm install', `${helm} template`);
  if (command.startsWith('kubectl apply --kustomize')) return command.replace('kubectl apply --kustomize', `${kubectl} kustomize`);
  return `${command.replace('kubectl', String(kubectl))} --dry-run=client --output name`;
}

const forCluster = commands.filter((command) => /^(?:kubectl (?:create|apply)|helm)/.test(command));

describe.runIf(kubectl !== null && helm !== null)('the page Deploy', () => {
  it('has commands for a cluster', () => {
    expect(forCluster.length).toBeGreaterThan(6);
  });

  it.each(forCluster)('has a command that works: %s', (command) => {
    // No fleet runs here that would make a key.
    const text = withoutCluster(command).replace(/\$\(npx muster [^)]*\)/, 'mk_x');
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `password=secret\n${text}`], { cwd: inRepository('.'), encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toBe('');
  });

  it.each(commands.filter((command) => command.startsWith('kubectl create secret')))(
    'makes a secret that something reads: %s',
    (command) => {
      const [, name = '', key] = /generic (\S+) .*--from-literal=(\w+)=/.exec(command) ?? [];
      expect(examples.get(name)).toContain(key);
    },
  );
});

it('the page Deploy has a row for each component, and names files that are there', () => {
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| `(\w+)` \|/gm)].map(([, component]) => component);
  expect(rows.filter((component) => !exists(`k8s/components/${component}`))).toEqual([]);
  expect(rows.length).toBe(12);
  const named = [...commands.join('\n').matchAll(/(?:k8s|services)\/[\w./-]+/g)].map(([path]) => path);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !exists(path))).toEqual([]);
});
