package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

// The kustomizations build, and every object is one of the API of Kubernetes.
func TestKubernetesAcceptsTheManifests(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	here, err := filepath.Abs("kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	check := t.TempDir() // the program is a module of its own, which tools of this one do not see
	for file, name := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "main.go.txt": "main.go"} {
		if err := os.WriteFile(filepath.Join(check, name), []byte(read(t, filepath.Join("check", file))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), testenv.Binary(t, "go"), "run", ".",
		filepath.Join(here, "base"), filepath.Join(here, "without-authority"), filepath.Join(here, "authority-proxy"))
	command.Dir = check
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built := string(out)
	for object, want := range map[string]bool{
		"base Deployment ushuru api": true, "base Deployment ushuru worker-any": true, "base Deployment ushuru worker-ai": true,
		"base Deployment ushuru worker-authority": true, "base PodDisruptionBudget ushuru worker-any": true,
		"base HorizontalPodAutoscaler ushuru worker-any":       true,
		"without-authority Deployment ushuru worker-authority": false, "without-authority Deployment ushuru worker-any": true,
		"authority-proxy Deployment ushuru worker-authority": true,
	} {
		if strings.Contains(built, "/kubernetes/"+object+"\n") != want {
			t.Errorf("%s: want %v in\n%s", object, want, built)
		}
	}
}

// Every process is asked whether it lives and whether it is ready, has no more rights than
// it needs, and is bounded.
func TestPodsAreProbedAndBounded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("kubernetes", "base", "[aw]*.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text := read(t, file)
		for _, piece := range []string{
			"startupProbe:", "livenessProbe:", "readinessProbe:", "runAsNonRoot: true", "readOnlyRootFilesystem: true", "drop: [ALL]",
			"allowPrivilegeEscalation: false", "limits: {memory:", "kind: PodDisruptionBudget", "secretRef: {name: ushuru-",
			"automountServiceAccountToken: false", "terminationGracePeriodSeconds: 60",
		} {
			if !strings.Contains(text, piece) {
				t.Errorf("%s has no %s", file, piece)
			}
		}
	}
}

// Workers are added by a metric that the service has, of queues that it has, which the
// adapter asks Prometheus for; every pod that is kept at a disruption is one of a Deployment.
func TestAutoscalingAsksForAMetricThatExists(t *testing.T) {
	t.Parallel()
	text, adapter := read(t, filepath.Join("kubernetes", "base", "worker-any.yaml")), read(t, filepath.Join("kubernetes", "prometheus-adapter.yaml"))
	metrics := read(t, filepath.Join("..", "docs", "metrics.md"))
	found := regexp.MustCompile(`metric: \{name: (\w+), selector: \{matchLabels: \{queue: (\w+)\}\}\}`).FindAllStringSubmatch(text, -1)
	if len(found) != 2 {
		t.Errorf("metrics %v", found)
	}
	for _, match := range found {
		line := regexp.MustCompile("(?m)^\\| `" + match[1] + "` .*$").FindString(metrics)
		if !regexp.MustCompile(`[(, ]`+match[2]+`[,)]`).MatchString(line) || !strings.Contains(adapter, "seriesQuery: "+match[1]+"\n") {
			t.Errorf("%s of the queue %s: %q in\n%s", match[1], match[2], line, adapter)
		}
	}
	files, err := filepath.Glob(filepath.Join("kubernetes", "base", "[aw]*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	component := regexp.MustCompile(`matchLabels: \{app\.kubernetes\.io/name: ushuru, app\.kubernetes\.io/component: (\S+)\}`)
	for _, file := range files {
		for _, match := range component.FindAllStringSubmatch(read(t, file), -1) {
			if match[1]+".yaml" != filepath.Base(file) {
				t.Errorf("%s selects %s", file, match[1])
			}
		}
	}
}
