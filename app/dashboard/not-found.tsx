import { NotFoundState } from './components/not-found-state';

export default function NotFound() {
  return (
    <main>
      <NotFoundState />
    </main>
  );
}
