import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { z } from 'zod';
import { ApiProblem, problemText } from '../api/api-problem.ts';
import { previewRule } from '../api/schedule-calls.ts';
import type { Preview, Schedule } from '../api/schedule-records.ts';
import { zoneTime } from '../parts/zone-time.ts';
import classes from './schedules.module.css';
import { useDebounced } from './use-debounced.ts';

const QUIET_MS = 250;
/** What comes with a rule that cannot be read. */
const formsSchema = z.object({ reason: z.string(), accepted: z.array(z.string()) });

export interface RulePreviewProps {
  phrase: string;
  tz: string;
  /** A schedule that has a rule already; null for none. */
  known: Schedule | null;
}

/** What the fleet understands of a rule while it is typed: the sentence, the zone, the next three times. */
export function RulePreview({ phrase, tz: typedZone, known }: RulePreviewProps): ReactElement {
  const asked = useDebounced(phrase.trim(), QUIET_MS);
  const tz = useDebounced(typedZone, QUIET_MS);
  // Its own times are those that it has, which may differ from those of the same rule begun now. While it is paused it has none.
  if (known !== null && known.status !== 'paused' && asked === known.rule && tz === known.tz) {
    return (
      <div className={classes['preview']} aria-live="polite">
        <Understood preview={known} never="It fires no more." />
      </div>
    );
  }
  return <AskedPreview asked={asked} tz={tz} />;
}

function AskedPreview({ asked, tz }: { asked: string; tz: string }): ReactElement {
  const { data, error } = useQuery({
    queryKey: ['preview', asked, tz],
    queryFn: ({ signal }) => previewRule(asked, tz, signal),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <div className={classes['preview']} aria-live="polite">
      {asked === '' ? <span className="faint">What you type is read back here, with the next three times.</span> : null}
      {asked !== '' && error !== null ? <Unreadable error={error} /> : null}
      {asked !== '' && error === null && data !== undefined ? <Understood preview={data} never="It never fires." /> : null}
    </div>
  );
}

/** With the forms that can be read, for those who want to know them: they are many. */
function Unreadable({ error }: { error: unknown }): ReactElement {
  const forms = formsSchema.safeParse(error instanceof ApiProblem ? error.details : {});
  if (!forms.success) return <p className={classes['unreadable']}>{problemText(error)}</p>;
  return (
    <>
      <p className={classes['unreadable']}>This {forms.data.reason}.</p>
      <details className={classes['forms']}>
        <summary>What can be read</summary>
        <ul tabIndex={0} aria-label="What can be read">
          {forms.data.accepted.map((form) => (
            <li key={form}>{form}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Understood({ preview, never }: { preview: Pick<Preview, 'sentence' | 'tz' | 'next'>; never: string }): ReactElement {
  return (
    <>
      <p>
        <strong>{preview.sentence}</strong> <span className="faint">({preview.tz})</span>
      </p>
      <ol>
        {preview.next.map((at) => (
          <li key={at}>
            <time dateTime={at}>{zoneTime(at, preview.tz)}</time>
          </li>
        ))}
      </ol>
      {preview.next.length === 0 ? <p className="faint">{never}</p> : null}
    </>
  );
}
