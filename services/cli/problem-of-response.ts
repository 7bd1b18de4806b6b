import { z } from 'zod';
import { CliProblem } from './cli-problem.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** What comes with a rule that cannot be read: the forms are too many for one sentence. */
const formsSchema = z.object({ given: z.string(), reason: z.string(), accepted: z.array(z.string()) });
const problemSchema = z.object({
  code: z.string().optional(),
  detail: z.string().optional(),
  title: z.string().optional(),
  details: z.unknown().optional(),
});

const EXIT_BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.usage,
  403: EXIT.usage,
  413: EXIT.usage,
  422: EXIT.usage,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.unreachable,
};

/** What a refusing answer says, in its own words where it has some; answers that are no problem+json come from a proxy or a stranger. */
export async function problemOfResponse(response: Response): Promise<CliProblem> {
  const text = await response.text().catch(() => '');
  const { code, details, ...words } = readProblem(text);
  const forms = formsSchema.safeParse(details).data;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const later = Number.isFinite(seconds) ? ` Try again in ${seconds} s.` : '';
  const said = forms ? `${forms.given} ${forms.reason}` : saidBy(response, words);
  return new CliProblem(`${said}${later && !/[.!?]$/.test(said) ? '.' : ''}${later}`, {
    exitCode: EXIT_BY_STATUS[response.status] ?? EXIT.failed,
    code: code ?? `http.${response.status}`,
    ...(forms ? { lines: ['It can be:', ...forms.accepted.map((form) => `  ${form}`)] } : {}),
    ...(later ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

function saidBy(
  { url, status, statusText }: Response,
  { detail, title }: { detail?: string | undefined; title?: string | undefined },
): string {
  return detail ?? title ?? `${url} answered ${status} ${statusText}`.trim();
}

function readProblem(text: string): z.infer<typeof problemSchema> {
  try {
    return problemSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
