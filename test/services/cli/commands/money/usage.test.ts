import { describe, expect, it } from 'vitest';
import { answer } from '../../fake-api.ts';
import { useMuster } from '../../use-muster.ts';

const { muster } = useMuster();

const used = {
  inputTokens: 12_345,
  outputTokens: 67,
  cachedInputTokens: 8,
  reasoningTokens: 9,
  attempts: 3,
  costMicroUsd: 1_234_500,
  unknown: 0,
};

describe('muster usage', () => {
  it('shows a line for each group and the total', async () => {
    let asked: string | undefined;
    const { code, stdout } = await muster(
      {
        'GET /v1/usage': (response, { url }) => {
          asked = url;
          const items = [
            { group: 'large', ...used },
            { group: null, ...used, costMicroUsd: null, unknown: 2 },
          ];
          answer(response, 200, { items, total: { ...used, unknown: 2 }, nextCursor: null });
        },
      },
      ['usage', '--by', 'model', '--since', '2026-05-01'],
    );
    expect(code).toBe(0);
    expect(asked).toContain('groupBy=model&since=2026-05-01');
    expect(stdout).toMatch(/^MODEL +IN +CACHED +OUT +REASONING +ATTEMPTS +COST$/m);
    expect(stdout).toMatch(/^large +12,345 +8 +67 +9 +3 +\$1\.2345$/m);
    expect(stdout).toMatch(/^unknown +12,345 +8 +67 +9 +3 +unknown$/m);
    expect(stdout).toMatch(/^total .* \$1\.2345 and 2 of unknown cost$/m);
  });

  it('says when nothing was used', async () => {
    const total = { ...used, inputTokens: 0 };
    const handlers = {
      'GET /v1/usage': (response: Parameters<typeof answer>[0]) => answer(response, 200, { items: [], total, nextCursor: null }),
    };
    expect(await muster(handlers, ['usage'])).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('Nothing was used') });
  });
});
