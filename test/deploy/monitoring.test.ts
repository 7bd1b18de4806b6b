import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { FINDING_CODES } from '#shared/findings/finding.ts';
import { readPage } from '../docs/markdown.ts';
import { useFolder } from '../support/use-folder.ts';
import { inRepository, read } from './repository.ts';

/** The set-up is plain JavaScript without declarations. */
interface SetUp {
  findPromtool: (root: string) => string | null;
}
const { findPromtool } = (await import(inRepository('services/local/set-up/provide-promtool.mjs'))) as SetUp;
const promtool = findPromtool(inRepository('.'));

interface Target {
  expr: string;
  legendFormat: string;
}
interface Board {
  uid: string;
  panels: { id: number; title: string; type: string; gridPos: { x: number; y: number; w: number; h: number }; targets?: Target[] }[];
}
interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const FOLDER = 'k8s/monitoring';
const names = readdirSync(inRepository(`${FOLDER}/boards`)).toSorted();
const boards = names.map((name) => JSON.parse(read(`${FOLDER}/boards/${name}`)) as Board);
const { groups } = parse(read(`${FOLDER}/muster.rules.yaml`)) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const targets = boards.flatMap(({ uid, panels }) =>
  panels.flatMap(({ title, targets: own = [] }) =>
    own.map(({ expr, legendFormat }) => ({ where: `${uid}: ${title}`, expr, legendFormat })),
  ),
);
const expressions = [...targets, ...rules.map(({ alert, expr }) => ({ where: alert, expr, legendFormat: '' }))];

/** What Prometheus adds to each series. */
const OF_TARGET = ['instance', 'pod'];

/** The metrics that are served, with their labels. A test of `fleet-families.test.ts` holds the page to what is served. */
function servedMetrics(): Map<string, readonly string[]> {
  const served = new Map<string, readonly string[]>();
  for (const [, name = '', type, cell = ''] of readPage('docs/metrics.md').matchAll(/^\| `(muster_\w+)` \| (\w+) \| ([^|]*)\|/gm)) {
    const labels = Array.from(cell.matchAll(/`(\w+)`/g), ([, label = '']) => label);
    if (type !== 'histogram') served.set(name, labels);
    else for (const end of ['bucket', 'sum', 'count']) served.set(`${name}_${end}`, end === 'bucket' ? [...labels, 'le'] : labels);
  }
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  for (const { name } of own.getMetricsAsArray()) served.set(name, []);
  return served;
}
const served = servedMetrics();

/** The names of metrics and labels of an expression that nothing serves. */
function unknownIn(expr: string, legend = ''): string[] {
  const used = [...expr.matchAll(/\b((?:muster|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', selector = '']) => ({
    name,
    labels: Array.from(selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label),
  }));
  const unknown = used.flatMap(({ name, labels }) => {
    const known = served.get(name);
    if (known === undefined) return [name];
    return labels.filter((label) => !known.includes(label) && !OF_TARGET.includes(label)).map((label) => `${name}{${label}}`);
  });
  const all = new Set([...OF_TARGET, ...used.flatMap(({ name }) => served.get(name) ?? [])]);
  const grouped = [...expr.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((each) => each.trim()),
  );
  const shown = Array.from(legend.matchAll(/\{\{(\w+)\}\}/g), ([, label = '']) => label);
  const lost = shown.filter((label) => !grouped.includes(label) && !OF_TARGET.includes(label));
  return [...unknown, ...[...grouped, ...shown].filter((label) => label !== '' && !all.has(label)), ...lost];
}

describe('each expression of boards and rules', () => {
  it('has names of metrics and labels that are served', () => {
    expect(
      expressions.flatMap(({ where, expr, legendFormat }) => unknownIn(expr, legendFormat).map((each) => `${where}: ${each}`)),
    ).toEqual([]);
    expect(unknownIn('max by (tenant) (muster_tasks{queue="a"}) + muster_workers{state="x"}', '{{status}}')).toEqual([
      'muster_tasks',
      'muster_workers{state}',
      'tenant',
      'status',
    ]);
  });

  it('names findings that there are', () => {
    const codes = expressions.flatMap(({ expr }) =>
      [...expr.matchAll(/muster_findings\{[^}]*code=~?"([^"]+)"/g)].flatMap(([, list = '']) => list.split('|')),
    );
    expect(codes.length).toBeGreaterThan(2);
    expect(codes.filter((code) => !FINDING_CODES.some((each) => each === code))).toEqual([]);
  });

  it('takes figures of the fleet from one process, whichever it is', () => {
    const ofProcess =
      /\b(?:muster_(?:process_ready|redis_commands_total|http_request_duration_seconds_count|build_info)|nodejs_\w+|process_\w+)\b/;
    const summed = expressions.filter(({ expr }) => !ofProcess.test(expr) && !/max(?: (?:by|without) \([^)]*\))? ?\(/.test(expr));
    expect(summed.map(({ where }) => where)).toEqual([]);
  });
});

it('panels of a board have ids of their own and do not lie on each other', () => {
  const judged = boards.map(({ uid, panels }) => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
    );
    const ids = new Set(panels.map(({ id }) => id));
    const width = Math.max(...panels.map(({ gridPos: { x, w } }) => x + w));
    return { uid, sameIds: panels.length - ids.size, overlaps: cells.length - new Set(cells).size, width };
  });
  const uids = ['muster-fleet', 'muster-money', 'muster-schedules', 'muster-tenant'];
  expect(judged).toEqual(uids.map((uid) => ({ uid, sameIds: 0, overlaps: 0, width: 24 })));
});

it('each rule says how bad it is, what is wrong, and where its runbook is, which is there', () => {
  const runbooks = Array.from(readPage('docs/runbooks.md').matchAll(/^## (Muster\w+)$/gm), ([, name = '']) => name);
  expect(runbooks.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  const said = rules.map(({ alert, labels: { severity }, annotations }) => ({
    alert,
    isSevere: ['warning', 'critical'].includes(severity),
    says: Object.keys(annotations),
    runbook: annotations['runbook_url'],
  }));
  expect(said).toEqual(
    rules.map(({ alert }) => ({
      alert,
      isSevere: true,
      says: ['summary', 'description', 'runbook_url'],
      runbook: `https://muster.example.com/guide/runbooks#${alert.toLowerCase()}`,
    })),
  );
});

it('each rule has a test in which it fires, and one in which it does not', () => {
  const { tests } = parse(read(`${FOLDER}/muster.rules.test.yaml`)) as {
    tests: { name: string; alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
  };
  const tested = tests.map(({ alert_rule_test: [one] }) => `${one?.alertname} ${one?.exp_alerts.length}`);
  expect(tested.toSorted()).toEqual(rules.flatMap(({ alert }) => [`${alert} 0`, `${alert} 1`]).toSorted());
});

const folder = await useFolder('muster-monitoring-');

const run = (...args: string[]): string => execFileSync(promtool ?? '', args, { cwd: inRepository(FOLDER), encoding: 'utf8' });

describe.runIf(promtool !== null)('by promtool', () => {
  it('the rules are valid, and fire when their tests say so', () => {
    expect(run('check', 'rules', 'muster.rules.yaml')).toContain(`SUCCESS: ${rules.length} rules found`);
    expect(run('test', 'rules', 'muster.rules.test.yaml')).toContain('SUCCESS');
  });

  it('each expression of the boards is valid', () => {
    // As Grafana fills in its variables.
    const filled = targets.map(({ expr }, at) => ({
      record: `board:${at}`,
      expr: expr.replaceAll('$__rate_interval', '2m').replaceAll('$__range', '6h').replaceAll('$tenant', '.*'),
    }));
    expect(filled.filter(({ expr }) => expr.includes('$'))).toEqual([]);
    const file = join(folder, 'boards.yaml');
    writeFileSync(file, stringify({ groups: [{ name: 'boards', rules: filled }] }));
    expect(run('check', 'rules', file)).toContain(`SUCCESS: ${filled.length} rules found`);
  });
});
