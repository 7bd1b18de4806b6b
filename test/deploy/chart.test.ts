import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { makeChart } from '../../package/chart/make-chart.ts';
import { buildOverlay, helm, kubectl, type Rendered, renderedIn } from './rendered.ts';
import { inRepository, read } from './repository.ts';

vi.setConfig({ testTimeout: 120_000 });

const CHART = inRepository('k8s/chart');
const valuesOf = (overlay: string): string[] => ['-f', inRepository(`k8s/overlays/${overlay}/values.yaml`)];

function template(...values: string[]): Rendered {
  return renderedIn(execFileSync(helm ?? '', ['template', 'muster', CHART, '-n', 'muster', ...values], { encoding: 'utf8' }));
}

describe.runIf(kubectl !== null && helm !== null)('the chart', () => {
  it('is what the base and the components make: else run `npm run chart`', () => {
    const made = makeChart({ root: inRepository('.'), kubectl: kubectl ?? '' });
    const files = readdirSync(CHART, { recursive: true, encoding: 'utf8' }).filter((file) => file.includes('.'));
    expect(files.toSorted()).toEqual([...made.keys()].toSorted());
    for (const [path, text] of made) expect({ path, text: read(`k8s/chart/${path}`) }).toEqual({ path, text });
  });

  it('is the base without values', () => {
    expect(template()).toEqual(buildOverlay('k8s/base'));
  });

  it.each([
    ['development', valuesOf('development')],
    ['production', valuesOf('production')],
    ['production-cluster', [...valuesOf('production'), ...valuesOf('production-cluster')]],
    ['production-tls', [...valuesOf('production'), ...valuesOf('production-tls')]],
  ])('is the overlay %s with its values, and lints', (overlay, values) => {
    expect(template(...values)).toEqual(buildOverlay(`k8s/overlays/${overlay}`));
    const { status, stdout } = spawnSync(helm ?? '', ['lint', '--strict', CHART, ...values], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('0 chart(s) failed') });
  });

  it('starts pods again when the configuration is another', () => {
    const digests = ['info', 'debug'].map((level) => {
      const args = ['template', 'muster', CHART, '--set', `config.LOG_LEVEL=${level}`, '--show-only', 'templates/api.yaml'];
      return /checksum\/config: (\w{64})/.exec(execFileSync(helm ?? '', args, { encoding: 'utf8' }))?.[1];
    });
    expect(digests[0]).toBeDefined();
    expect(digests[0]).not.toBe(digests[1]);
  });

  it('is in the namespace of its release, wherever that is named', () => {
    const args = ['template', 'muster', CHART, '-n', 'elsewhere', ...valuesOf('production')];
    const text = execFileSync(helm ?? '', args, { encoding: 'utf8' });
    expect(text).toContain('url: http://api.elsewhere.svc/v1/scaling/work');
    expect(text).toContain('namespace: elsewhere');
    expect(text).not.toContain('muster.svc');
  });

  it.each([
    ['components.kedaa=true', 'kedaa'],
    ['replicas.worker=3', 'worker'],
    ['image.repo=x', 'repo'],
    ['replicas.api=two', 'api'],
  ])('refuses the value %s', (value, word) => {
    const { status, stderr } = spawnSync(helm ?? '', ['template', 'muster', CHART, '--set', value], { encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain(word);
  });
});

it('the chart has values for every overlay', () => {
  const overlays = readdirSync(inRepository('k8s/overlays'));
  expect(overlays.filter((name) => !existsSync(inRepository(`k8s/overlays/${name}/values.yaml`)))).toEqual([]);
});
