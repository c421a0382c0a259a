package agentanalyzerextension

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/steptrail/steptrail/extension/filestorageextension"
)

// queues is an extension that forgets when it is told that it has.
type queues struct {
	component.StartFunc
	component.ShutdownFunc
	asked     int
	forgotten bool
}

func (q *queues) Forget() func() bool {
	q.asked++
	return func() bool { return q.forgotten }
}

func TestEveryStorageOfQueuesIsAskedToForget(t *testing.T) {
	one, two := &queues{}, &queues{}
	forget := forgetOf(map[component.ID]component.Component{
		component.MustNewID("one"): one, component.MustNewID("two"): two, component.MustNewID("agentstorage"): storage{},
	})
	gone := forget()
	require.Equal(t, []int{1, 1}, []int{one.asked, two.asked})
	require.False(t, gone())
	one.forgotten = true
	require.False(t, gone())
	two.forgotten = true
	require.True(t, gone())
	require.Nil(t, forgetOf(map[component.ID]component.Component{component.MustNewID("agentstorage"): storage{}}), "nothing to wait for")
}

func TestTheQueueOnDiskIsOneThatCanForget(t *testing.T) {
	f := filestorageextension.NewFactory()
	ext, err := f.Create(t.Context(), extensiontest.NewNopSettings(f.Type()), f.CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(t.Context())) })
	require.NotNil(t, forgetOf(map[component.ID]component.Component{component.MustNewID("file_storage"): ext}))
}
