import type { ReactElement } from 'react';
import { FirstSteps } from '../../parts/first-steps/first-steps.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';

/** The examples of a new installation, also once it has tasks. */
export function Page(): ReactElement {
  return (
    <PageFrame title="First steps">
      <FirstSteps />
    </PageFrame>
  );
}
