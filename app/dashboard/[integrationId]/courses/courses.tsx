'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import type { Course } from '../../../../contract/courses';
import { COURSE_SORTS } from '../../../../contract/sort-orders';
import { ButtonLink } from '../../components/button';
import { joinClasses, TRUNCATED } from '../../components/classes';
import { Count } from '../../components/count';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, ListWithDetails } from '../../components/details-panel';
import { ListTools } from '../../components/list-tools';
import { PageHeader } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { ScoreBar } from '../../components/score-bar';
import { useSorting } from '../../components/sorting';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES, refreshEvery } from '../../list-pages';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { CourseFacts } from './course-facts';

const COLUMNS: Column<Course>[] = [
  {
    key: 'name',
    name: 'Name',
    sorts: { ascending: 'name' },
    cell: ({ name }) => <CutText text={name} className="max-w-36 font-medium @4xl:max-w-52" />,
  },
  {
    key: 'url',
    name: 'Address',
    from: 'md',
    width: '100%',
    cell: ({ url }) => (
      <span className={joinClasses(TRUNCATED, 'text-muted')} title={url}>
        {url.replace(/^https?:\/\//, '')}
      </span>
    ),
  },
  {
    key: 'average',
    name: 'Average',
    from: 'sm',
    width: '1%',
    cell: ({ averageBotScore }) => <ScoreBar score={averageBotScore} level={null} />,
  },
  {
    ...{ key: 'sessions', name: 'Sessions', isNumber: true, sorts: { descending: 'sessions' } },
    cell: ({ sessionCount }) => <Count value={sessionCount} />,
  },
  {
    key: 'bots',
    name: 'Bots',
    from: 'sm',
    isNumber: true,
    cell: ({ botSessionCount }) => <Count value={botSessionCount} />,
  },
  { key: 'users', name: 'Users', from: 'sm', isNumber: true, cell: ({ userCount }) => <Count value={userCount} /> },
  {
    key: 'seen',
    name: 'Last seen',
    sorts: { descending: 'lastSeen' },
    from: 'sm',
    isNumber: true,
    width: '1%',
    cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
  },
];

const NOUN = ['course', 'courses'] as const;

/** The courses that have sessions, with a panel for the selected one. */
export function Courses() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection();
  const sorting = useSorting(COURSE_SORTS);
  const filters = { sort: sorting.current };
  const query = useInfiniteQuery(
    trpc.courses.listSorted.infiniteQueryOptions(filters, { ...PAGES, refetchInterval: refreshEvery(REFRESH_MS) }),
  );
  const total = useQuery(trpc.courses.count.queryOptions(undefined, { refetchInterval: REFRESH_MS })).data;
  const list = listRows(query);
  const hrefOf = ({ id }: Course) => `${base}/courses/${encodeURIComponent(id)}`;
  return (
    <>
      <PageHeader title="Courses" about="Found in the URLs of sessions." />
      <ListTools
        {...{ list: 'courses', page: 'courses', noun: NOUN, filters, total, rows: list.rows, hasMore: list.hasMore }}
        note={
          sorting.current === 'id' ? 'In the order of their ids.' : 'New sessions change this order within a minute.'
        }
      />
      <ListWithDetails
        list={
          <DataTable
            caption="Courses"
            noun={NOUN}
            total={total}
            sorting={sorting}
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            rowHref={hrefOf}
            rowName={({ name, url, id }) => `${name}, ${url ?? id}`}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            onOpen={(course) => router.push(hrefOf(course))}
            empty={
              <EmptyState title="No courses yet">
                <p>
                  A course appears here once a session began on one of its pages. Addresses of Canvas, Moodle,
                  Blackboard, Brightspace, Schoology and Open edX are understood.
                </p>
              </EmptyState>
            }
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          selected && (
            <CoursePanel
              key={selected}
              courseId={selected}
              listed={list.rows?.find(({ id }) => id === selected)}
              base={base}
              onClose={() => select(null)}
            />
          )
        }
      />
    </>
  );
}

interface CoursePanelProps {
  courseId: string;
  /** The course from the loaded list, if it is there. */
  listed: Course | undefined;
  base: string;
  onClose(): void;
}

function CoursePanel({ courseId, listed, base, onClose }: CoursePanelProps) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.courses.get.queryOptions({ courseId }), enabled: !listed });
  const course = listed ?? query.data;
  return (
    <DetailsPanel title={course?.name ?? 'Course'} onClose={onClose}>
      {course ? (
        <div className="space-y-4">
          <ButtonLink href={`${base}/courses/${encodeURIComponent(courseId)}`}>Open course</ButtonLink>
          <CourseFacts course={course} />
        </div>
      ) : (
        <Pending query={query} className="h-64" />
      )}
    </DetailsPanel>
  );
}
