'use client';

import { useEffect } from 'react';
import { outcome } from '../outcome.js';
import { show } from '../show.js';

export default function Page() {
  useEffect(() => {
    show('client', outcome());
  }, []);
  return <p>The outcome is below.</p>;
}
